#if canImport(SwiftUI) || SWIFTUI_STAND_IN
    public import SealedData
    #if canImport(SwiftUI)
        public import SwiftUI
    #else
        public import SwiftUIStandIn
    #endif

    extension View {
        /// Sets the model context of this view and the views in it.
        public func modelContext(_ modelContext: ModelContext) -> some View {
            environment(\.modelContext, modelContext)
        }

        /// Sets the model context of this view and the views in it to the main context of a container.
        @MainActor
        public func modelContainer(_ container: ModelContainer) -> some View {
            environment(\.modelContext, container.mainContext)
        }

        /// Opens a container for a model class and the classes that are reachable from it, and sets the model context
        /// of this view and the views in it to its main context.
        ///
        /// - Parameters:
        ///   - modelType: The class.
        ///   - inMemory: Whether the store exists in memory only.
        ///   - key: The key of the file; nil means that `EncryptionKey.provider` supplies it.
        ///   - isAutosaveEnabled: Whether the context autosaves. The app can change the setting of the context later.
        ///   - isUndoEnabled: Whether the changes are registered with the undo manager of the environment. If not, the
        ///     undo manager of the context stays as the app sets it.
        ///   - onSetup: Receives the container, or the error, once. After an error the environment stays as it was.
        @MainActor
        public func modelContainer(
            for modelType: any PersistentModel.Type,
            inMemory: Bool = false,
            key: EncryptionKey? = nil,
            isAutosaveEnabled: Bool = true,
            isUndoEnabled: Bool = false,
            onSetup: @escaping (Result<ModelContainer, any Error>) -> Void = { _ in }
        ) -> some View {
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
        /// of this view and the views in it to its main context.
        ///
        /// The parameters are those for one class.
        @MainActor
        public func modelContainer(
            for modelTypes: [any PersistentModel.Type],
            inMemory: Bool = false,
            key: EncryptionKey? = nil,
            isAutosaveEnabled: Bool = true,
            isUndoEnabled: Bool = false,
            onSetup: @escaping (Result<ModelContainer, any Error>) -> Void = { _ in }
        ) -> some View {
            let setup = ModelContainerSetup(
                types: modelTypes,
                isInMemory: inMemory,
                key: key,
                isAutosaveEnabled: isAutosaveEnabled,
                isUndoEnabled: isUndoEnabled,
                onSetup: onSetup
            )
            return modifier(ModelContainerModifier(setup: setup))
        }
    }

    /// Makes a container for the lifetime of a view.
    private struct ModelContainerModifier: ViewModifier {
        let setup: ModelContainerSetup
        @State private var storage = ModelContainerStorage()
        @Environment(\.undoManager) private var undoManager

        @MainActor func body(content: Content) -> some View {
            content.environment(\.givenModelContext, storage.context(setup, undoManager))
        }
    }
#endif
