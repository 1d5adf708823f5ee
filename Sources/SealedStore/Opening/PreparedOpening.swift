import EncryptedSQLite
import Guarded
package import ObjectGraph

/// A store that is open and examined, but neither updated nor migrated yet.
///
/// A program that opens several stores prepares all of them before it changes the first: a store that is refused leaves
/// the others as they were. A store that is not finished is closed with its preparation.
final class PreparedOpening: Sendable {
    private let opening: StoreOpening
    private let reading: StoreReading
    private let staged: StagedMigration
    private let progress: MigrationProgress?
    /// Whether the opening has to update or migrate the store.
    let changesStore: Bool
    private let opened: Guarded<Opened?>

    private struct Opened {
        let database: Database
        /// The content of a store that needs no change.
        let examined: (content: StoreContent, states: FileStates)?
    }

    init(
        _ opening: StoreOpening,
        _ reading: StoreReading,
        _ staged: StagedMigration,
        _ database: Database,
        _ examined: (content: StoreContent, states: FileStates)?,
        progress: MigrationProgress?
    ) {
        self.opening = opening
        self.reading = reading
        self.staged = staged
        self.progress = progress
        changesStore = examined == nil
        opened = Guarded(Opened(database: database, examined: examined))
    }

    deinit {
        opening.checked.removeAll()
        if let opened = take() { try? opened.database.close() }
    }

    /// Whether the store is neither finished nor closed.
    var isOpen: Bool { opened.withLock { $0 != nil } }

    /// Updates or migrates the store if that is necessary. Can be called once.
    ///
    /// - Parameter reached: The position of the last stage that was run, also by an earlier opening.
    /// - Throws: ``ReplacedFile``; as ``StoreOpening/open()``. The database is then closed.
    func finish(reached: inout Int?) throws -> OpenStore {
        guard let opened = take() else { preconditionFailure("A prepared opening is finished once.") }
        defer { opening.checked.removeAll() }
        let database = opened.database
        return try ReplacedFile.using(database) {
            let content =
                try opened.examined?.content
                ?? opening.update(database, reading, staged, reached: &reached, progress: progress)
            let states = opened.examined?.states ?? FileStates(content, reading)
            let store = OpenStore(
                opening.description,
                database,
                content.plan,
                states,
                content.metadata,
                newlySetAside: content.newlySetAside
            )
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
        (prepared.options[preparedOption] as? PreparedOpening)?.changesStore ?? false
    }
}
