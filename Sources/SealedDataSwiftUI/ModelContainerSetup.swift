#if canImport(SwiftUI) || SWIFTUI_STAND_IN
    import Foundation
    import SealedData

    /// The parameters of a container that a view or scene makes.
    struct ModelContainerSetup {
        let types: [any PersistentModel.Type]
        let isInMemory: Bool
        let key: EncryptionKey?
        let isAutosaveEnabled: Bool
        let isUndoEnabled: Bool
        let onSetup: (Result<ModelContainer, any Error>) -> Void

        fileprivate func makeContainer() throws -> ModelContainer {
            try ModelContainer(
                for: Schema(types),
                configurations: ModelConfiguration(isStoredInMemoryOnly: isInMemory, key: key)
            )
        }
    }

    /// The container of a view or scene, made once in its lifetime.
    @MainActor
    final class ModelContainerStorage {
        private var container: Result<ModelContainer, any Error>?

        nonisolated init() {}

        /// The context of the container, which is made at the first call; nil if the container cannot be opened.
        func context(_ setup: ModelContainerSetup, _ undoManager: UndoManager?) -> ModelContext? {
            let isNew = container == nil
            let made = container ?? Result { try setup.makeContainer() }
            container = made
            guard let context = try? made.get().mainContext else {
                if isNew { setup.onSetup(made) }
                return nil
            }
            // Each evaluation can have another undo manager. The app can change the other settings after the first
            // evaluation.
            if setup.isUndoEnabled, context.undoManager !== undoManager { context.undoManager = undoManager }
            if isNew {
                context.autosaveEnabled = setup.isAutosaveEnabled
                setup.onSetup(made)
            }
            return context
        }
    }
#endif
