import Foundation
import ObjectGraph
import TestSupport
import Testing

/// Performs the same random operations on a context and on a plain graph.
struct RandomOperations {
    var random: SeededGenerator
    let store: TestStore
    private let seed: UInt64
    private let checksEveryStep: Bool
    /// Whether the contexts are children of a context that is saved after each save of a child.
    private let isNested: Bool
    var contexts: [ManagedObjectContext]
    /// The index of the context with pending changes.
    private(set) var active = 0
    var graph = PlainGraph()
    var saved = PlainGraph()
    var ids: [Int: ManagedObjectID] = [:]
    /// The objects that the test keeps in memory, by context.
    private var held: [[Int: ManagedObject]] = [[:], [:]]
    var nextID = 1
    /// Partially fetched objects.
    var parts: [ManagedObject] = []
    /// The last states of the saved objects that were deleted since the last save.
    var deleted: [Int: PlainGraph.Object] = [:]
    var log: [String] = []
    var markers: [Marker] = []
    /// The states of the plain graph before each operation that can be undone or redone, latest last.
    var undoable: [Moment] = []
    var redoable: [Moment] = []

    struct Moment {
        let graph: PlainGraph
        let deleted: [Int: PlainGraph.Object]
    }

    init(_ kind: StoreKind, seed: UInt64, isNested: Bool = false) throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        store = try TestStore(kind, random.model())
        checksEveryStep = random.chance(50)
        self.isNested = isNested
        contexts = []
        makeContexts()
    }

    private mutating func makeContexts() {
        let parent = isNested ? store.context() : nil
        contexts = (0..<2).map { _ in parent.map { ManagedObjectContext(parent: $0) } ?? store.context() }
        for context in contexts { context.undoManager = UndoManager() }
    }

    /// Saves the context and its parent.
    private mutating func saveAll() throws {
        try context.save()
        for (id, object) in held[active] where graph.objects[id] != nil { ids[id] = object.managedObjectID }
        guard let parent = context.parent else { return }
        try check(parent, graph, "the parent before its save")
        try parent.save()
    }

    var context: ManagedObjectContext { contexts[active] }

    var modelDescription: String {
        store.model.relationships.map { relationship in
            let inverse = relationship.inverse.map { " <-> \($0.name)" } ?? ""
            return "\(relationship.source.name).\(relationship.name)\(inverse) -> \(relationship.destination.name)"
                + (relationship.isToMany ? "*" : "") + (relationship.isOrdered ? " ordered" : "")
                + " \(relationship.deleteRule)"
        }.joined(separator: "\n")
    }

    /// A difference between the graph and the context.
    struct Disagreement: Error, CustomStringConvertible {
        let description: String
    }

    func expect(_ condition: Bool, _ description: @autoclosure () -> String) throws {
        if !condition { throw Disagreement(description: description()) }
    }

    // MARK: Steps

    mutating func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<13: try undoably { $0.insert() }
        case 13..<15: try doBatch()
        case 15..<19: try undoably { $0.insertGraphFromOutside() }
        case 19..<33: try undoably { try $0.setAttribute() }
        case 33..<35: try changeElsewhere()
        case 35..<59: try undoably { try $0.relate() }
        case 59..<64: try undoably { try $0.delete() }
        case 64..<65: try addAgain()
        case 65..<68: try undoably { try $0.deleteAndRestore() }
        case 68..<77: undoOrRedo()
        case 77..<85: try save()
        case 85..<87: try failToSave()
        case 87..<89: try rollBack()
        case 89..<91: try reopen()
        case 91..<93: resetOrRefresh()
        case 93..<96: switchContext()
        case 96..<98: try fetchInPart()
        default: letGo()
        }
        if checksEveryStep || random.chance(20) { try check(context, graph, "the context") }
        try checkFetches()
        try expect(graph.contradictions.isEmpty, "the plain graph is wrong: \(graph.contradictions)")
    }

    // MARK: Operations

    private mutating func insert() {
        let entity = random.pick(store.model.entities)!
        let object = context.make(entity.name)
        register(object)
        log.append("insert \(nextID - 1) of \(entity.name)")
    }

    private mutating func register(_ object: ManagedObject) {
        graph.insert(nextID, object.managedObjectID.entity)
        held[active][nextID] = object
        nextID += 1
    }

    /// Creates objects, relates them outside any context, and inserts all by inserting one of them.
    private mutating func insertGraphFromOutside() {
        let objects = (0..<3).map { _ in ManagedObject.make(store.model, random.pick(store.model.entities)!.name) }
        let first = nextID
        for (position, object) in objects.enumerated() { graph.insert(first + position, object.managedObjectID.entity) }
        nextID += objects.count
        for _ in 0..<4 {
            let (owner, member) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<3, using: &random))
            let candidates = objects[owner].managedObjectID.entity.relationships.filter {
                objects[member].managedObjectID.entity.isKind(of: $0.destination)
            }
            guard let relationship = random.pick(candidates) else { continue }
            relate(objects[owner], relationship, [objects[member]])
            graph.relate(first + owner, relationship, to: [first + member])
            log.append("outside: \(first + owner).\(relationship.name) = [\(first + member)]")
        }
        for (position, object) in objects.enumerated() {
            context.insert(object)
            held[active][first + position] = object
            log.append("insert \(first + position) of \(object.managedObjectID.entity.name) from outside")
        }
    }

    private mutating func setAttribute() throws {
        guard let (id, object) = try pickObject() else { return }
        let value: Value = random.chance(20) ? .null : .integer(Int64.random(in: 0..<10, using: &random))
        object["n"] = value
        graph.objects[id]!.values["n"] = value
        if random.chance(50) {
            let text: Value = .text(String(repeating: "x", count: Int.random(in: 0..<4, using: &random)))
            object["s"] = text
            graph.objects[id]!.values["s"] = text
        }
        log.append("set n of \(id)")
    }

    private mutating func relate() throws {
        guard let (id, object) = try pickObject(),
            let relationship = random.pick(object.managedObjectID.entity.relationships)
        else {
            return
        }
        let candidates = graph.objects.filter { $0.value.entity.isKind(of: relationship.destination) }.keys.sorted()
        var others: [Int]
        if relationship.isToMany {
            others = graph.related(id, relationship)
            if !relationship.isOrdered { others.sort() }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: others = Array(candidates.shuffled(using: &random).prefix(3))
            case 1: if !others.isEmpty { others.remove(at: Int.random(in: 0..<others.count, using: &random)) }
            case 2: others.shuffle(using: &random)
            default:
                if let other = random.pick(candidates), !others.contains(other) { others.append(other) }
            }
        } else {
            others = random.chance(20) ? [] : random.pick(candidates).map { [$0] } ?? []
        }
        log.append("\(id).\(relationship.name) = \(others)")
        relate(object, relationship, try others.map { try self.object($0, context) })
        if let inverse = relationship.inverse {
            if !relationship.isToMany { freeFromDeleted([id], inverse) }
            let old = graph.related(id, relationship)
            if !inverse.isToMany { freeFromDeleted(others.filter { !old.contains($0) }, relationship) }
        }
        graph.relate(id, relationship, to: others)
    }

    /// Adds a member to a relationship that has it already, which may not be loaded.
    private mutating func addAgain() throws {
        guard let (id, object) = try pickObject(),
            let relationship = random.pick(object.managedObjectID.entity.relationships.filter(\.isToMany)),
            let other = random.pick(graph.related(id, relationship))
        else { return }
        let member = try self.object(other, context)
        let isUnchanged = { (object: ManagedObject) in
            !object.isInserted && !object.isUpdated && !object.hasPendingDeletion
        }
        for object in [object, member] where isUnchanged(object) && random.chance(70) {
            context.refresh(object, mergeChanges: false)
        }
        log.append("add \(other) to \(id).\(relationship.name) again")
        object.addMember(member, forRelationship: relationship.name)
        // An undo after the next save cannot know that the member was in the store.
        forgetUndo()
    }

    /// Removes the references with delete rule deny, so that an object can be deleted.
    private mutating func freeFromDeleted(_ members: [Int], _ relationship: Relationship) {
        for (id, object) in deleted where object.entity.isKind(of: relationship.source) {
            deleted[id]?.relations[relationship.name]?.removeAll { members.contains($0) }
        }
    }

    private func relate(_ object: ManagedObject, _ relationship: Relationship, _ others: [ManagedObject]) {
        if relationship.isToMany {
            object[many: relationship.name] = others
        } else {
            object[one: relationship.name] = others.first
        }
    }

    private mutating func delete() throws {
        guard let (id, object) = try pickObject() else { return }
        log.append("delete \(id)")
        context.delete(object)
        remove(graph.cascade(from: id))
    }

    /// Removes objects from the plain graph; saved ones count as deleted until the next save.
    private mutating func remove(_ victims: Set<Int>) {
        for victim in victims where saved.objects[victim] != nil {
            deleted[victim] = graph.objects[victim]
        }
        graph.remove(victims)
    }

    private mutating func deleteAndRestore() throws {
        guard let (id, object) = try pickObject() else { return }
        log.append("delete and restore \(id)")
        context.delete(object)
        _ = context.hasChanges
        context.insert(object)
        remove(graph.cascade(from: id).subtracting([id]))
        graph.rejoin(id)
    }

    private mutating func save() throws {
        let denied = graph.denies(deletionOf: deleted.values)
        log.append(denied ? "save, denied" : "save")
        if denied {
            try expect((try? context.save()) == nil, "a deletion was not denied")
            try check(context, graph, "the context after a denied save")
            return try rollBack()
        }
        try saveAll()
        // The undo of a deletion restores one-way references only for objects in memory.
        if store.model.relationships.contains(where: { $0.inverse == nil }), canRestoreDeleted { forgetUndo() }
        try expect(!context.hasChanges, "there are changes after a save")
        saved = graph
        deleted = [:]
        try check(context, saved, "the context after a save")
        try check(store.context(), saved, "a new context")
        try checkFile()
    }

    private mutating func failToSave() throws {
        guard context.hasChanges else { return }
        log.append("a save that fails")
        store.counter.failNextSave(with: ObjectGraphError.storeIsReadOnly)
        // A save without writes cannot fail.
        if (try? saveAll()) == nil {
            _ = store.counter.takeFailure()
            try check(context, graph, "the context after a failed save")
            // The child has saved: only the parent can repeat its save.
            if isNested { try save() }
        } else {
            _ = store.counter.takeFailure()
            saved = graph
            deleted = [:]
        }
    }

    private mutating func rollBack() throws {
        log.append("rollback")
        context.rollback()
        forgetUndo()
        try expect(!context.hasChanges, "there are changes after a rollback")
        graph = saved
        deleted = [:]
        held[active] = held[active].filter { ids[$0.key] != nil }
        try check(context, graph, "the context after a rollback")
    }

    private mutating func reopen() throws {
        guard !context.hasChanges else { return }
        log.append("reopen")
        held = [[:], [:]]
        parts = []
        contexts = []
        try store.reopen()
        makeContexts()
        forgetUndo()
        let uuid = ids.values.first?.storeUUID
        try expect(ids.values.allSatisfy { $0.storeUUID == uuid }, "the store has changed its identity")
        try check(context, saved, "the context after reopening")
    }

    private mutating func resetOrRefresh() {
        if random.chance(50), !context.hasChanges {
            log.append("reset")
            held[active] = [:]
            context.reset()
            forgetUndo()
        } else if !context.hasChanges {
            log.append("refresh")
            for object in held[active].values { context.refresh(object, mergeChanges: false) }
        } else {
            log.append("refresh all")
            context.refreshAllObjects()
        }
    }

    private mutating func switchContext() {
        guard !context.hasChanges else { return }
        log.append("switch to context \(1 - active)")
        active = 1 - active
        forgetUndo()
        _ = try? context.count(context.request("Alpha"))
    }

    /// Drops references to some objects, so that the context may release them.
    mutating func letGo() {
        log.append("release some objects")
        let unsaved = Set(context.insertedObjects.map { ObjectIdentifier($0) })
        // A redo can restore new objects whose insertion was undone.
        held[active] = held[active].filter {
            unsaved.contains(ObjectIdentifier($0.value)) || ids[$0.key] == nil || $0.key % 2 == 0
        }
        _ = context.registeredObjects
    }

    // MARK: Objects

    private mutating func pickObject() throws -> (Int, ManagedObject)? {
        guard let id = random.pick(graph.objects.keys.sorted()) else { return nil }
        let object = try object(id, context)
        held[active][id] = object
        return (id, object)
    }

    func object(_ id: Int, _ context: ManagedObjectContext) throws -> ManagedObject {
        if context === self.context, let object = held[active][id] { return object }
        let permanent = try #require(ids[id], "object \(id) was never saved and is not in memory")
        return try #require(
            try context.existingObject(with: permanent) as? ManagedObject,
            "object \(id) is not in the store"
        )
    }
}
