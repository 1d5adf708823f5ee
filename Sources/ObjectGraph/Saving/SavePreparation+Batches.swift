// The requests of a save while they are collected.

extension SavePreparation {
    /// The part of a batch to which objects of one entity are added.
    final class Part {
        /// Not retained: the identity map of the preparation retains its handlers.
        let handler: Unmanaged<FaultHandler>
        let entity: Entity
        // These are read once for all objects of the entity.
        let entityIndex: Int
        let traits: [SlotTraits]
        let hasComposites: Bool
        /// Whether the program sets stored values. Values of Swift types fit the types of their attributes.
        let takesStoredValues: Bool
        let toManys: [ToMany]
        let batch: StoreBatch
        /// The slots of to-one relationships that may lead to deleted objects.
        let slotsToDeleted: [Int]

        init(
            _ handler: Unmanaged<FaultHandler>,
            _ entity: Entity,
            _ batch: StoreBatch,
            slotsToDeleted: [Int]
        ) {
            self.handler = handler
            self.entity = entity
            entityIndex = entity.index
            traits = entity.traits
            hasComposites = entity.hasComposites
            takesStoredValues = handler._withUnsafeGuaranteedRef { $0.objectType is ManagedObject.Type }
            toManys = entity.hasToMany ? entity.relationships.filter(\.isToMany).map(ToMany.init) : []
            self.batch = batch
            self.slotsToDeleted = slotsToDeleted
        }
    }

    /// The changes of one store's objects.
    final class StoreBatch {
        /// The store; nil for the parent of the context.
        let store: (any IncrementalStore)?
        /// One of the store's entities.
        let entity: Entity
        /// Whether objects of the store have to-many relationships.
        var hasToMany = false
        // Encoding a value may call the program during an access. The program cannot reach the batch: only the save
        // that prepares it refers to it, and any other save of the context throws until this save ends. So accesses do
        // not overlap, and dynamic exclusivity checks would only cost time.
        @exclusivity(unchecked) var inserted = ChangedRows()
        @exclusivity(unchecked) var updated = ChangedRows()
        /// Changed objects without changes in their own rows: the rows of other objects contain their changed
        /// relationships.
        @exclusivity(unchecked) var related: [ChangedObject] = []
        @exclusivity(unchecked) var request = SaveChangesRequest()

        init(store: (any IncrementalStore)?, entity: Entity) {
            self.store = store
            self.entity = entity
        }

        /// Returns the request, which the batch then no longer has.
        func takeRequest() -> SaveChangesRequest {
            var taken = SaveChangesRequest()
            swap(&taken, &request)
            return taken
        }

        func finish() {
            request.inserted = inserted.finish()
            request.updated = updated.finish()
            if request.memberships.isEmpty { return }
            let changes = request.memberships
            request.memberships = changes.filter(\.changesPairs) + changes.filter { !$0.changesPairs }
        }
    }

    /// The rows of the saved objects of a list.
    struct ChangedRows: ~Copyable {
        /// The positions of the objects in their list.
        var positions = Positions()
        var builder = RowBatchBuilder()
        private var rows = RowBatch()

        mutating func finish() -> RowBatch {
            if positions.count == 0 { return rows }
            var complete = RowBatchBuilder()
            swap(&complete, &builder)
            rows = complete.finish()
            return rows
        }

        /// The number of rows.
        var count: Int { positions.count }

        /// Calls `body` with the position of each object in its list, and its row.
        func forEachRow(_ body: (Int, Row) -> Void) {
            var number = 0
            for chunk in rows.chunks {
                for index in 0..<chunk.rowCount {
                    body(positions[number], chunk.row(at: index))
                    number += 1
                }
            }
        }
    }

    /// Ascending positions in a list. While they are the positions of the first elements, only their number is stored.
    struct Positions {
        private(set) var count = 0
        private var stored: [Int] = []

        mutating func append(_ position: Int) {
            if !stored.isEmpty || position != count {
                if stored.isEmpty { stored = Array(0..<count) }
                stored.append(position)
            }
            count += 1
        }

        subscript(number: Int) -> Int { stored.isEmpty ? number : stored[number] }
    }
}
