public import Foundation

/// A committed transaction in the history of a store: a save, a batch request, an import, or the deletion of all
/// objects.
public struct PersistentHistoryTransaction: Sendable, Identifiable {
    /// The number of the transaction in its store. Later transactions have larger numbers, with gaps; no number is used
    /// twice.
    public let number: Int64
    /// The store.
    public let storeUUID: UUID
    /// The time of the commit, according to the clock of the process that wrote it.
    public let timestamp: Date
    /// The ``ManagedObjectContext/transactionAuthor`` of the context, up to ``authorByteLimit``; nil if it had none. A
    /// transaction that has applied a change set has the authors of the change set, with commas between them.
    public let author: String?
    /// The bundle identifier of the program that wrote the transaction, or its name.
    public let bundleIdentifier: String
    /// The name and number of the process that wrote the transaction.
    public let processIdentifier: String
    /// Whether the store from which the transaction was fetched has written it itself. Another coordinator on the same
    /// file, also in the same process, has another store.
    public let isOwn: Bool
    /// The changes, objects with the same change together; empty if the request excludes them.
    public let groups: [Group]
    /// About the size in bytes of the stored changes.
    package var byteCount = 0

    /// The number.
    public var id: Int64 { number }

    /// Objects of one entity with the same kind of change and the same changed properties.
    ///
    /// The keys are ranges: a transaction that inserts a million objects has few ranges.
    public struct Group: Sendable {
        /// The kind of change.
        public let kind: PersistentHistoryChange.Kind
        /// The entity.
        public let entity: Entity
        /// The primary keys, each once.
        public let keys: [ClosedRange<Int64>]
        /// The changed properties of updated objects.
        public let updatedProperties: [Property]
        /// The recorded values of each object, in the order of the keys; empty if none are recorded.
        public let values: [PersistentHistoryChange.Values]
        /// The ``PersistentHistoryChange/id`` of the first object. The numbers of the next objects follow it.
        public let firstChange: Int64

        /// Makes a group.
        public init(
            kind: PersistentHistoryChange.Kind,
            entity: Entity,
            keys: [ClosedRange<Int64>],
            updatedProperties: [Property],
            values: [PersistentHistoryChange.Values],
            firstChange: Int64
        ) {
            self.kind = kind
            self.entity = entity
            self.keys = keys
            self.updatedProperties = updatedProperties
            self.values = values
            self.firstChange = firstChange
        }

        /// The number of objects.
        public var count: Int { keys.reduce(0) { $0 + $1.count } }
    }

    /// Makes a transaction.
    public init(
        number: Int64,
        storeUUID: UUID,
        timestamp: Date,
        author: String?,
        bundleIdentifier: String,
        processIdentifier: String,
        isOwn: Bool,
        groups: [Group]
    ) {
        self.number = number
        self.storeUUID = storeUUID
        self.timestamp = timestamp
        self.author = author
        self.bundleIdentifier = bundleIdentifier
        self.processIdentifier = processIdentifier
        self.isOwn = isOwn
        self.groups = groups
    }

    /// The changes, each object once.
    ///
    /// - Complexity: O(number of objects).
    public var changes: [PersistentHistoryChange] {
        var changes: [PersistentHistoryChange] = []
        changes.reserveCapacity(groups.reduce(0) { $0 + $1.count })
        for group in groups {
            var position = 0
            for key in group.keys.joined() {
                changes.append(
                    PersistentHistoryChange(
                        id: group.firstChange + Int64(position),
                        kind: group.kind,
                        objectID: ManagedObjectID(entity: group.entity, storeUUID: storeUUID, key: key),
                        updatedProperties: group.updatedProperties,
                        values: position < group.values.count ? group.values[position] : .init()
                    )
                )
                position += 1
            }
        }
        return changes
    }
}

extension Commit {
    /// The largest number of changed objects that share a root entity and are named one by one.
    private static let largestCount = 10_000

    /// The changes of transactions, oldest first.
    package init(_ transactions: [PersistentHistoryTransaction]) {
        self.init(.others)
        transaction = transactions.last?.number
        var counts: [Int: Int] = [:]
        for group in transactions.lazy.flatMap(\.groups) {
            counts[group.entity.rootIndex, default: 0] += group.count
            guard counts[group.entity.rootIndex, default: 0] <= Self.largestCount else {
                addUnknown(group.entity)
                continue
            }
            let change =
                switch group.kind {
                case .insert: Change(.inserted)
                case .update: Change(.updated, slots: SlotSet(group.updatedProperties))
                case .delete: Change(.deleted)
                }
            for key in group.keys.joined() { add(change, of: key, entity: group.entity) }
        }
    }
}

extension PersistentHistoryTransaction {
    /// The largest number of bytes in UTF-8 of an author in a history and in a change set. A longer author is cut after
    /// the last character of Unicode that fits. An author in a change set of another store can be longer.
    public static let authorByteLimit = 1024

    /// An author within the limit.
    package static func bounded(author: String) -> String {
        var bytes = author.utf8.prefix(authorByteLimit)
        guard bytes.endIndex < author.utf8.endIndex else { return author }
        // A byte of this form continues a character.
        while author.utf8[bytes.endIndex] & 0xC0 == 0x80 { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
