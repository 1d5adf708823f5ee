// What objects of subclasses of `ManagedObject` are told of their lives. Objects of other classes cost one test of a
// constant of their handler.

extension ManagedObjectContext {
    /// How many times further objects may turn up while the changed ones are told of the save.
    private static let mostRounds = 1000

    /// Tells all objects that the next save writes, among them those that are changed by others being told.
    ///
    /// - Throws: ``ObjectGraphError/endlessChanges`` where there are always more.
    func tellOfSave() throws {
        guard handlers.contains(where: \.hasLifecycle) else { return }
        var told: Set<ObjectIdentifier> = []
        for _ in 0..<Self.mostRounds {
            propagateDeletes()
            let objects = changedLifecycleObjects.filter { told.insert(ObjectIdentifier($0)).inserted }
            if objects.isEmpty { return }
            for object in objects { object.willSave() }
        }
        throw ObjectGraphError.endlessChanges
    }

    /// The changed objects that are to be told of a save.
    var changedLifecycleObjects: [ManagedObject] {
        guard handlers.contains(where: \.hasLifecycle) else { return [] }
        return [inserted, updated, deleted].flatMap(\.objects).compactMap(\.withLifecycle)
    }

    /// What changed objects themselves have against being saved. What they change meanwhile is saved, and objects that are
    /// changed by it are asked as well.
    ///
    /// - Throws: ``ObjectGraphError/endlessChanges`` where there are always more.
    func rejections() throws -> [ObjectGraphError.ValidationProblem] {
        guard handlers.contains(where: \.hasLifecycle) else { return [] }
        var problems: [ObjectGraphError.ValidationProblem] = []
        var asked: Set<ObjectIdentifier> = []
        func check(_ list: ChangeList, _ validate: (ManagedObject) throws -> Void) -> Bool {
            let objects = list.objects.compactMap(\.withLifecycle).filter {
                asked.insert(ObjectIdentifier($0)).inserted
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
        for _ in 0..<Self.mostRounds {
            propagateDeletes()
            let haveBeenAsked = [
                check(inserted) { try $0.validateForInsert() },
                check(updated) { try $0.validateForUpdate() },
                check(deleted) { try $0.validateForDelete() },
            ]
            if !haveBeenAsked.contains(true) { return problems }
        }
        throw ObjectGraphError.endlessChanges
    }
}

extension GraphObject {
    /// The object, where its class may have overridden what it is told.
    var withLifecycle: ManagedObject? {
        state.pointee.handler?.hasLifecycle ?? false ? self as? ManagedObject : nil
    }
}
