import EncryptedSQLite
import ObjectGraph

/// The changes of a store that the common order of its exchange does not contain yet, without values: the net effect of
/// the transactions since the last exchange.
struct UnexchangedChanges {
    /// The difference of one object from the common order.
    struct Difference: Hashable {
        /// The entity.
        let entity: Entity
        /// Whether the common order has the object.
        var isKnown: Bool
        /// Whether the object was inserted, so that all its properties differ.
        var isWhole = false
        /// Whether the object was deleted.
        var isDeleted = false
        /// The changed properties.
        var slots = SlotSet()

        /// Whether a property differs.
        func contains(_ slot: Int) -> Bool { !isDeleted && (isWhole || slots.contains(slot)) }

        /// Whether the object is as in the common order.
        var isNone: Bool { isDeleted ? !isKnown : !isWhole && slots.isEmpty }
    }

    private(set) var objects: [ObjectPlace: Difference] = [:]
    /// The authors of the transactions, each once.
    private(set) var authors: [String] = []
    /// The number of the last transaction of the store.
    let lastTransaction: Int64
    /// The number of transactions and marks that were read. The marks of a snapshot are few: each has a thousand
    /// objects.
    private(set) var readCount = 0

    private let exchanged: ExchangedProperties
    /// The changed slots by the `Entity.rootIndex` of their objects.
    private var changedSlots: [Int: SlotSet] = [:]

    var isEmpty: Bool { objects.isEmpty }

    subscript(place: ObjectPlace) -> Difference? { objects[place] }

    /// Reads the changes.
    ///
    /// - Throws: `ExchangeError.expired`, `ExchangeError.noIdentifiers`; ``SealedStoreError/damagedRow(entity:property:)``.
    /// - Complexity: O(number of changes since the last exchange).
    init(_ record: ExchangeRecord, _ store: OpenStore, on connection: Connection) throws {
        guard let settings = try HistorySettings.read(on: connection), settings.identifiesObjects else {
            throw ExchangeError.noIdentifiers
        }
        exchanged = store.exchanged
        lastTransaction = max(try HistoryTable.lastKey(on: connection), settings.lastDeleted)
        let acknowledged = record.acknowledged
        authors = record.authors ?? []
        guard settings.lastDeleted <= acknowledged else {
            throw ExchangeError.expired(lastDeleted: settings.lastDeleted)
        }
        try addTransactions(after: acknowledged, of: store, settings, on: connection)
        objects = objects.filter { !$0.value.isNone }
        for (place, difference) in objects where !difference.isDeleted {
            let slots = difference.isWhole ? exchanged.slots(of: difference.entity) : difference.slots
            changedSlots[place.rootIndex, default: SlotSet()].formUnion(slots)
        }
    }

    /// Whether a relationship of an object may differ.
    func hasChanges(of relationship: Relationship) -> Bool {
        changedSlots[relationship.source.rootIndex]?.contains(relationship.slot) ?? false
    }

    // MARK: Reading

    private mutating func addTransactions(
        after number: Int64,
        of store: OpenStore,
        _ settings: HistorySettings,
        on connection: Connection
    ) throws {
        var marks = try ExchangeMarks.read(from: number, store.model, settings, on: connection)[...]
        var request = HistoryFetchRequest(after: number)
        request.excludesApplied = true
        request.includesValues = false
        let transactions = try store.transactions(request, settings, on: connection)
        readCount = transactions.count + marks.count
        for transaction in transactions {
            while let mark = marks.first, mark.number < transaction.number {
                replace(mark.groups)
                marks.removeFirst()
            }
            for group in transaction.groups { add(group) }
            // A history of an earlier version of the package can have longer authors.
            let author = transaction.author.map(PersistentHistoryTransaction.bounded)
            if let author, !authors.contains(author) { authors.append(author) }
        }
        for mark in marks { replace(mark.groups) }
    }

    // MARK: Adding

    /// Adds the changes of a transaction of the store itself.
    private mutating func add(_ group: PersistentHistoryTransaction.Group) {
        let changed = SlotSet(
            group.updatedProperties.filter { exchanged.property(at: $0.slot, of: group.entity) != nil }
        )
        if group.kind == .update, changed.isEmpty { return }
        for key in group.keys.joined() {
            let place = ObjectPlace(rootIndex: group.entity.rootIndex, key: key)
            let isNew = group.kind == .insert
            var difference = objects[place] ?? Difference(entity: group.entity, isKnown: !isNew)
            switch group.kind {
            case .insert:
                // The new object under the key of a deleted object may be of another entity.
                difference = Difference(entity: group.entity, isKnown: difference.isKnown, isWhole: true)
            case .update: difference.slots.formUnion(changed)
            case .delete:
                difference.isDeleted = true
                difference.isWhole = false
                difference.slots = SlotSet()
            }
            objects[place] = difference
        }
    }

    /// Replaces the differences of objects by the differences that were recorded with a change set.
    private mutating func replace(_ groups: [PersistentHistoryTransaction.Group]) {
        for group in groups {
            let slots = SlotSet(group.updatedProperties)
            for key in group.keys.joined() {
                let place = ObjectPlace(rootIndex: group.entity.rootIndex, key: key)
                // No difference: the object is the same in the common order, or exists in neither.
                if group.kind == .update, slots.isEmpty {
                    objects[place] = nil
                    continue
                }
                objects[place] = Difference(
                    entity: group.entity,
                    isKnown: group.kind != .insert,
                    isWhole: group.kind == .insert,
                    isDeleted: group.kind == .delete,
                    slots: slots
                )
            }
        }
    }
}

extension OpenStore {
    /// The entities whose objects the store holds.
    var exchangedEntities: [Entity] {
        schema.model.entities.filter { description.entityNames?.contains($0.name) ?? true }
    }
}
