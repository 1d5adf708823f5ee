// Calls the lifecycle methods that subclasses of `ManagedObject` override. For objects of other classes this costs one
// test of a constant of their handler.

extension SaveOperation {
    /// The maximum number of rounds in which the called methods change further objects.
    private static let maximumRounds = 1000

    /// Calls `willSave()` of all changed objects, including objects that a `willSave()` changes.
    ///
    /// - Throws: ``ObjectGraphError/endlessChanges`` if each round changes further objects.
    func callWillSave() throws {
        guard identityMap.handlers.contains(where: \.hasLifecycle) else { return }
        var called: Set<ObjectIdentifier> = []
        for _ in 0..<Self.maximumRounds {
            deletePropagation.run()
            let objects = changedLifecycleObjects.filter { called.insert(ObjectIdentifier($0)).inserted }
            if objects.isEmpty { return }
            for object in objects { object.willSave() }
        }
        throw ObjectGraphError.endlessChanges
    }

    /// The changed objects whose class may override the methods that a save calls.
    var changedLifecycleObjects: [ManagedObject] {
        guard identityMap.handlers.contains(where: \.hasLifecycle) else { return [] }
        return [changeTracker.inserted, changeTracker.updated, changeTracker.deleted].flatMap(\.objects).compactMap(
            \.withLifecycle
        )
    }

    /// Calls the validation methods of all changed objects, including objects that a validation changes.
    ///
    /// - Returns: the problems that the objects have found.
    /// - Throws: ``ObjectGraphError/endlessChanges`` if each round changes further objects.
    func validate() throws -> [ObjectGraphError.ValidationProblem] {
        guard identityMap.handlers.contains(where: \.hasLifecycle) else { return [] }
        var problems: [ObjectGraphError.ValidationProblem] = []
        var called: Set<ObjectIdentifier> = []
        func check(_ list: ChangeList, _ validate: (ManagedObject) throws -> Void) -> Bool {
            let objects = list.objects.compactMap(\.withLifecycle).filter {
                called.insert(ObjectIdentifier($0)).inserted
            }
            for object in objects {
                do {
                    try validate(object)
                } catch {
                    problems.append(.init(id: object.managedObjectID, property: "", reason: .rejected("\(error)")))
                }
            }
            return !objects.isEmpty
        }
        for _ in 0..<Self.maximumRounds {
            deletePropagation.run()
            let wereCalled = [
                check(changeTracker.inserted) { try $0.validateForInsert() },
                check(changeTracker.updated) { try $0.validateForUpdate() },
                check(changeTracker.deleted) { try $0.validateForDelete() },
            ]
            if !wereCalled.contains(true) { return problems }
        }
        throw ObjectGraphError.endlessChanges
    }
}
