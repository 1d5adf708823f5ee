#if canImport(SwiftUI) || SWIFTUI_STAND_IN
    public import SealedData
    #if canImport(SwiftUI)
        public import SwiftUI
    #else
        public import SwiftUIStandIn
    #endif

    extension Scene {
        /// Sets the model context of the views of this scene.
        @MainActor
        public func modelContext(_ modelContext: ModelContext) -> some Scene {
            environment(\.modelContext, modelContext)
        }

        /// Sets the model context of the views of this scene to the main context of a container.
        @MainActor
        public func modelContainer(_ container: ModelContainer) -> some Scene {
            environment(\.modelContext, container.mainContext)
        }

        /// Opens a container for a model class and the classes that are reachable from it, and sets the model context
        /// of the views of this scene to its main context.
        ///
        /// The parameters are those for a view.
        @MainActor
        public func modelContainer(
            for modelType: any PersistentModel.Type,
            inMemory: Bool = false,
            key: EncryptionKey? = nil,
            isAutosaveEnabled: Bool = true,
            isUndoEnabled: Bool = false,
            onSetup: @escaping (Result<ModelContainer, any Error>) -> Void = { _ in }
        ) -> some Scene {
            modelContainer(
                for: [modelType],
                inMemory: inMemory,
                key: key,
                isAutosaveEnabled: isAutosaveEnabled,
                isUndoEnabled: isUndoEnabled,
                onSetup: onSetup
            )
        }

        /// Opens a container for model classes and the classes that are reachable from them, and sets the model context
        /// of the views of this scene to its main context.
        ///
        /// The parameters are those for a view.
        @MainActor
        public func modelContainer(
            for modelTypes: [any PersistentModel.Type],
            inMemory: Bool = false,
            key: EncryptionKey? = nil,
            isAutosaveEnabled: Bool = true,
            isUndoEnabled: Bool = false,
            onSetup: @escaping (Result<ModelContainer, any Error>) -> Void = { _ in }
        ) -> some Scene {
            let setup = ModelContainerSetup(
                types: modelTypes,
                isInMemory: inMemory,
                key: key,
                isAutosaveEnabled: isAutosaveEnabled,
                isUndoEnabled: isUndoEnabled,
                onSetup: onSetup
            )
            return ModelContainerScene(content: self, setup: setup)
        }
    }

    /// Makes a container for the lifetime of a scene.
    private struct ModelContainerScene<Content: Scene>: Scene {
        let content: Content
        let setup: ModelContainerSetup
        @State private var storage = ModelContainerStorage()
        @Environment(\.undoManager) private var undoManager

        @MainActor var body: some Scene {
            content.environment(\.givenModelContext, storage.context(setup, undoManager))
        }
    }
#endif
