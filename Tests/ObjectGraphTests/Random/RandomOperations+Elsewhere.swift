import ObjectGraph
import TestSupport

/// Operations beside the context's own changes: batch requests and saves of other contexts.
extension RandomOperations {
    // MARK: Batch requests

    /// Executes a random batch request. The plain graph can predict its result only without unsaved changes.
    mutating func doBatch() throws {
        guard !context.hasChanges else { return }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: try insertBatch()
        case 1: try updateBatch()
        default: try deleteBatch()
        }
        forgetUndo()
        saved = graph
        deleted = [:]
        try check(context, graph, "the context after a batch request")
        try checkFile()
    }

    private mutating func insertBatch() throws {
        let entity = random.pick(store.model.entities)!
        let numbers = (0..<3).map { _ in Int64.random(in: 0..<10, using: &random) }
        log.append("insert a batch of \(entity.name)")
        var request = BatchInsertRequest(entity, objects: numbers.map { ["n": .integer($0)] })
        request.resultType = .objectIDs
        guard case .objectIDs(let new) = try context.execute(request) else { return }
        for (number, id) in zip(numbers, new) {
            graph.insert(nextID, entity)
            graph.objects[nextID]!.values["n"] = .integer(number)
            ids[nextID] = id
            nextID += 1
        }
    }

    private mutating func updateBatch() throws {
        let entity = random.pick(store.model.entities)!
        let (bound, value) = (Int64.random(in: 0..<10, using: &random), Int64.random(in: 0..<10, using: &random))
        log.append("update \(entity.name) with n < \(bound) to \(value)")
        try context.execute(
            BatchUpdateRequest(
                entity,
                propertiesToUpdate: ["n": .literal(.integer(value))],
                predicate: store.model.path(entity.name, "n") < .integer(bound)
            )
        )
        for id in fitting(entity, where: { $0 < bound }) { graph.objects[id]!.values["n"] = .integer(value) }
    }

    private mutating func deleteBatch() throws {
        let entity = random.pick(store.model.entities)!
        let number = Int64.random(in: 0..<10, using: &random)
        let victims = fitting(entity) { $0 == number }.reduce(into: Set<Int>()) {
            $0.formUnion(graph.cascade(from: $1))
        }
        let doomed = victims.map { graph.objects[$0]! }
        var rest = graph
        rest.remove(victims)
        let isDenied = rest.denies(deletionOf: doomed)
        log.append("delete \(entity.name) with n = \(number): \(victims.sorted())\(isDenied ? ", denied" : "")")
        let request = BatchDeleteRequest(entity, predicate: store.model.path(entity.name, "n") == .integer(number))
        do {
            try context.execute(request)
            try expect(!isDenied, "a deletion was not denied")
            graph = rest
        } catch is ObjectGraphError {
            try expect(isDenied, "a deletion was denied")
        }
    }

    /// The objects of an entity whose number satisfies a condition.
    private func fitting(_ entity: Entity, where condition: (Int64) -> Bool) -> [Int] {
        graph.objects.filter { _, object in
            guard object.entity.isKind(of: entity), case .integer(let n)? = object.values["n"] else { return false }
            return condition(n)
        }.keys.sorted()
    }

    // MARK: Other contexts

    /// Changes an object in the other context that is unchanged in the active one, which keeps its own changes.
    mutating func changeElsewhere() throws {
        let candidates = graph.objects.keys.filter { saved.objects[$0] != nil }.sorted()
        guard let id = random.pick(candidates) else { return }
        let own = try object(id, context)
        guard !own.isUpdated, !own.isInserted, !own.hasPendingDeletion else { return }
        let value = Value.integer(Int64.random(in: 0..<10, using: &random))
        log.append("set n of \(id) in the other context")
        let other = contexts[1 - active]
        other.processPendingChanges()
        guard let theirs = try other.existingObject(with: own.managedObjectID) as? ManagedObject else {
            throw Disagreement(description: "object \(id) is missing in the other context")
        }
        theirs["n"] = value
        try other.save()
        try other.parent?.save()
        context.processPendingChanges()
        graph.objects[id]!.values["n"] = value
        saved.objects[id]!.values["n"] = value
        // Earlier undo operations do not include it.
        forgetUndo()
    }

    // MARK: Faults

    /// Releases all saved objects and fetches some of them partially.
    mutating func fetchInPart() throws {
        let entity = random.pick(store.model.entities)!
        var request = context.request(entity.name)
        request.includesPropertyValues = random.chance(70)
        request.returnsObjectsAsFaults = random.chance(50)
        request.propertiesToFetch = entity.properties.filter { _ in random.chance(40) }
        log.append("fetch \(entity.name) in part: \(request.propertiesToFetch.map(\.name))")
        letGo()
        parts = try context.fetch(request)
        context.stalenessInterval = random.chance(50) ? 0 : -1
    }
}
