import EncryptedSQLite
import Guarded
package import ObjectGraph

/// A store that is open and examined, but neither updated nor migrated yet.
///
/// A program that opens several stores prepares all of them before it changes the first: if a store is refused, all
/// stores are as they were. A store that is not finished is closed with its preparation.
final class PreparedOpening: PreparedStore {
    /// The opening that has prepared the store.
    let opening: StoreOpening
    private let checked: MigrationCheckResults
    /// Whether the opening has to update or migrate the store.
    let changesStore: Bool
    private let opened: Guarded<Opened?>

    /// The result of the examination.
    enum Examined {
        /// The store is opened as it is.
        case fits(FittingContent, FileStates)
        /// The store must be updated or migrated. The metadata describe the store before.
        case changes(StoreMetadataTable)
    }

    private struct Opened {
        let migrator: StoreMigrator
        let examined: Examined
    }

    init(_ opening: StoreOpening, _ migrator: StoreMigrator, _ examined: Examined) {
        self.opening = opening
        checked = migrator.staged.program.checked
        changesStore = if case .changes = examined { true } else { false }
        opened = Guarded(Opened(migrator: migrator, examined: examined))
    }

    deinit {
        checked.removeAll()
        if let opened = take() { try? opened.migrator.database.close() }
    }

    /// Whether the store was neither finished nor closed.
    var isOpen: Bool { opened.withLock { $0 != nil } }

    /// Updates or migrates the store if that is necessary. Can be called once.
    ///
    /// - Parameter reached: The position of the last stage that was run, also by an earlier opening.
    /// - Throws: ``ReplacedFile``; as ``StoreOpening/open(_:)``. The database is then closed.
    func finish(reached: inout Int?) throws -> OpenStore {
        guard let opened = take() else { preconditionFailure("A prepared opening is finished once.") }
        defer { checked.removeAll() }
        let migrator = opened.migrator
        return try ReplacedFile.using(migrator.database) {
            let store: OpenStore
            switch opened.examined {
            case .fits(let content, let states): store = OpenStore(migrator.database, content, states)
            case .changes(let before):
                let content = try migrator.run(reached: &reached)
                let known = before.setAside
                store = OpenStore(
                    migrator.database,
                    content,
                    FileStates(content, migrator.staged.program),
                    newlySetAside: content.metadata.setAside.filter { !known.contains($0) }
                )
            }
            try store.beginHistory()
            return store
        }
    }

    private func take() -> Opened? {
        opened.withLock { opened in
            defer { opened = nil }
            return opened
        }
    }
}

extension SealedStore {
    /// Whether loading the store of a prepared description updates or migrates it.
    package static func changesStore(_ prepared: PersistentStoreDescription) -> Bool {
        (prepared.prepared as? PreparedOpening)?.changesStore ?? false
    }
}
