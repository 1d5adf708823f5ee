@testable import ObjectGraph
import TestSupport

/// The store and the contexts of a run of a ``ContextProgram``.
final class ContextWorld {
    /// An object that steps choose, with its identifier after its first save, and its object in each context unless
    /// it was released.
    private struct Candidate {
        let name: String
        var id: ManagedObjectID?
        var objects: [ManagedObject?] = [nil, nil]
    }

    let store: TestStore
    let contexts: [ManagedObjectContext]
    /// The steps that had an effect, with the names of their objects.
    private(set) var log: [String] = []
    private var candidates: [String: [Candidate]] = ["Owner": [], "Item": []]

    /// - Parameter startsEmpty: Whether neither context has objects in memory; otherwise the first one has all.
    init(_ kinds: [ContextModel.Kind], _ policies: [MergePolicy], startsEmpty: Bool = false) throws {
        store = try TestStore(.sealed, ContextModel.model(kinds), isInMemory: true)
        contexts = [store.context(), store.context()]
        let owners = (0..<3).map { _ in insert("Owner", in: 0) }
        let items = (0..<3).map { _ in insert("Item", in: 0) }
        for kind in kinds {
            for (number, item) in items.enumerated() where number < 2 {
                if kind == .chain { items[0][one: "next"] = items[1] } else { relate(item, owners[0], kind, 0) }
            }
        }
        try contexts[0].save()
        share(0)
        if startsEmpty {
            for entity in candidates.keys {
                for position in candidates[entity, default: []].indices {
                    candidates[entity]?[position].objects[0] = nil
                }
            }
            contexts[0].reset()
        }
        log = []
        for (context, policy) in zip(contexts, policies) {
            context.mergePolicy = policy
            context.undoManager = UndoManager()
        }
    }

    // MARK: Objects

    @discardableResult
    private func insert(_ entity: String, in writer: Int) -> ManagedObject {
        let name = "\(entity == "Owner" ? "o" : "i")\(candidates[entity]?.count ?? 0)"
        let object = contexts[writer].make(entity, ["name": .text(name)])
        var candidate = Candidate(name: name)
        candidate.objects[writer] = object
        candidates[entity]?.append(candidate)
        log.append("\(writer): insert \(name)")
        return object
    }

    /// Lets both writers choose the objects that one has saved.
    private func share(_ writer: Int) {
        for (entity, list) in candidates {
            for (position, candidate) in list.enumerated() where candidate.id == nil {
                guard let object = candidate.objects[writer], !object.managedObjectID.isTemporary else { continue }
                candidates[entity]?[position].id = object.managedObjectID
            }
        }
    }

    /// An object that a number chooses; nil if the context does not have it, or it is deleted.
    private func choose(
        _ entity: String,
        _ number: Int,
        in writer: Int,
        deleted: Bool = false
    ) throws -> ManagedObject? {
        guard let list = candidates[entity], !list.isEmpty else { return nil }
        let position = number % list.count
        var found = list[position].objects[writer]
        if found == nil, let id = list[position].id {
            found = try contexts[writer].existingObject(with: id) as? ManagedObject
        }
        guard let found, found.managedObjectContext === contexts[writer] else { return nil }
        candidates[entity]?[position].objects[writer] = found
        return found.isObjectDeleted == deleted ? found : nil
    }

    private func name(_ object: ManagedObject?) -> String { object?.text("name") ?? "nil" }

    // MARK: Steps

    /// Performs a step.
    ///
    /// - Returns: the contradiction that a save or check finds.
    func perform(_ step: ContextProgram.Step) throws -> String? {
        let (writer, first, second) = (step.writer, step.first, step.second)
        let context = contexts[writer]
        func note(_ text: String) { log.append("\(writer): \(text)") }
        func item() throws -> ManagedObject? { try choose("Item", first, in: writer) }
        func owner() throws -> ManagedObject? { try choose("Owner", second / 2, in: writer) }
        switch step.act {
        case .insertOwner: insert("Owner", in: writer)
        case .insertItem:
            let item = insert("Item", in: writer)
            if step.kind != .chain, let owner = try owner() { relate(item, owner, step.kind, second) }
        case .insertAgain:
            // An object whose values were never read cannot be inserted again.
            if let object = try choose(second % 3 == 0 ? "Owner" : "Item", first, in: writer, deleted: true),
                object["name"] != .null
            {
                note("insert \(name(object)) again")
                context.insert(object)
            }
        case .deleteOwner, .deleteItem:
            if let object = try choose(step.act == .deleteItem ? "Item" : "Owner", first, in: writer) {
                note("delete \(name(object))")
                context.delete(object)
            }
        case .setNumber:
            if let object = try choose(second % 2 == 0 ? "Owner" : "Item", first, in: writer) {
                note("\(name(object)).number = \(second)")
                object["number"] = .integer(Int64(second))
            }
        case .relate:
            guard let item = try item() else { break }
            if step.kind == .chain {
                guard let other = try choose("Item", second / 2, in: writer) else { break }
                let property = second % 2 == 0 ? "next" : "previous"
                note("\(name(item)).\(property) = \(name(other))")
                item[one: property] = other
            } else if let owner = try owner() {
                relate(item, owner, step.kind, second)
            }
        case .part: if let item = try item() { part(item, try owner(), step.kind, second) }
        case .setMembers, .reorder:
            guard let owner = try choose("Owner", first, in: writer) else { break }
            for relationship in step.kind.ofOwner where relationship.cardinality == .many {
                let old = owner[many: relationship.name]
                var new = old
                if step.act == .reorder {
                    if !relationship.isOrdered || old.count < 2 { continue }
                    new.append(new.remove(at: second % (old.count - 1)))
                } else {
                    new = try [second / 2, second / 3].compactMap { try choose("Item", $0, in: writer) }
                    if relationship.name == "coaches" { new = Array(new.prefix(1)) }
                }
                note("\(name(owner)).\(relationship.name) = \(new.map(name))")
                owner[many: relationship.name] = new
            }
        case .save: return try save(writer)
        case .rollback:
            note("rollback")
            context.rollback()
        case .undo:
            guard context.undoManager?.canUndo ?? false else { break }
            note("undo")
            context.undo()
        case .redo:
            guard context.undoManager?.canRedo ?? false else { break }
            note("redo")
            context.redo()
        case .process:
            note("process")
            context.processPendingChanges()
        case .read:
            guard let object = try choose(second % 2 == 0 ? "Owner" : "Item", first, in: writer) else { break }
            note("read \(name(object))")
            _ = describe(object)
        case .release:
            note("release")
            for (entity, list) in candidates {
                for (position, candidate) in list.enumerated() where candidate.id != nil {
                    candidates[entity]?[position].objects[writer] = nil
                }
            }
        case .refresh:
            guard let object = try choose(second % 2 == 0 ? "Owner" : "Item", first, in: writer),
                !object.managedObjectID.isTemporary
            else { break }
            note("refresh \(name(object))")
            context.refresh(object, mergeChanges: second % 3 == 0)
        case .check: return try check()
        }
        return nil
    }

    /// Relates an item to an owner, from a side that a number chooses.
    private func relate(_ item: ManagedObject, _ owner: ManagedObject, _ kind: ContextModel.Kind, _ number: Int) {
        guard let writer = contexts.firstIndex(where: { $0 === item.managedObjectContext }) else { return }
        let (ofOwner, ofItem) = (kind.ofOwner, kind.ofItem)
        if number % 2 == 0 || ofItem[0].cardinality == .many {
            let relationship = ofOwner[number / 2 % ofOwner.count]
            log.append("\(writer): \(name(owner)).\(relationship.name) += \(name(item))")
            if relationship.cardinality == .many {
                owner.addMember(item, forRelationship: relationship.name)
            } else {
                owner[one: relationship.name] = item
            }
        } else {
            log.append("\(writer): \(name(item)).\(ofItem[0].name) = \(name(owner))")
            item[one: ofItem[0].name] = owner
        }
    }

    /// Parts an item from its owner, or from one of its owners.
    private func part(_ item: ManagedObject, _ owner: ManagedObject?, _ kind: ContextModel.Kind, _ number: Int) {
        guard let writer = contexts.firstIndex(where: { $0 === item.managedObjectContext }) else { return }
        let relationship = kind.ofItem[number % kind.ofItem.count]
        if relationship.cardinality == .one, number % 4 < 2 {
            log.append("\(writer): \(name(item)).\(relationship.name) = nil")
            item[one: relationship.name] = nil
        } else if kind != .chain, let owner {
            let back = kind.ofOwner[number / 4 % kind.ofOwner.count]
            log.append("\(writer): \(name(owner)).\(back.name) -= \(name(item))")
            if back.cardinality == .many {
                owner.removeMember(item, forRelationship: back.name)
            } else {
                owner[one: back.name] = nil
            }
        }
    }

    // MARK: Checks

    private func save(_ writer: Int) throws -> String? {
        let context = contexts[writer]
        log.append("\(writer): save")
        do {
            try context.save()
        } catch ObjectGraphError.conflicts {
            log.append("\(writer): conflict, rollback")
            context.rollback()
        } catch  where context.mergePolicy == .error {
            log.append("\(writer): \(error), rollback")
            context.rollback()
        } catch {
            return "the save throws \(error)"
        }
        share(writer)
        let problems = try store.problems()
        return problems.isEmpty ? nil : "the store has problems: \(problems)"
    }

    /// Compares the contexts with the store, after a rollback of their changes.
    func end() throws -> String? {
        if let text = try check() { return text }
        for (writer, context) in contexts.enumerated() where context.hasChanges {
            log.append("\(writer): rollback")
            context.rollback()
        }
        return try check()
    }

    /// Compares the contexts without changes with the store. Unsaved changes may contradict the changes of others until
    /// their save resolves the conflict.
    private func check() throws -> String? {
        log.append("check")
        let fresh = store.context()
        let stored = try describe(fresh)
        if let text = try contradictions(in: fresh).first { return "store: \(text)" }
        for (writer, context) in contexts.enumerated() {
            context.processPendingChanges()
            if context.hasChanges { continue }
            let here = try describe(context)
            for (name, values) in stored where here[name] != values {
                return "context \(writer): \(here[name] ?? "no \(name)"); store: \(values)"
            }
            for (name, values) in here where stored[name] == nil { return "context \(writer): \(values); not stored" }
        }
        return nil
    }

    /// The values of all objects by their names.
    private func describe(_ context: ManagedObjectContext) throws -> [String: String] {
        var values: [String: String] = [:]
        for entity in ["Owner", "Item"] {
            for object in try context.all(entity) { values[object.text("name")] = describe(object) }
        }
        return values
    }

    func describe(_ object: ManagedObject) -> String {
        var text = name(object)
        if case .integer(let number) = object["number"] { text += " \(number)" }
        for relationship in object.entity.relationships {
            if relationship.isToMany {
                let names = object[many: relationship.name].texts("name")
                text += " \(relationship.name) \(relationship.isOrdered ? names : names.sorted())"
            } else {
                text += " \(relationship.name) \(name(object[one: relationship.name]))"
            }
        }
        return text
    }

    /// The relationships that do not agree with their inverses.
    private func contradictions(in context: ManagedObjectContext) throws -> [String] {
        var found: [String] = []
        func destinations(_ object: ManagedObject, _ relationship: Relationship) -> [ManagedObject] {
            relationship.isToMany
                ? object[many: relationship.name] : [object[one: relationship.name]].compactMap(\.self)
        }
        for object in try ["Owner", "Item"].flatMap({ try context.all($0) }) {
            for relationship in object.entity.relationships {
                for other in destinations(object, relationship) {
                    let inverses =
                        (relationship.inverse ?? relationship.sharedInverse).map { [$0] } ?? relationship.sharers
                    if !inverses.contains(where: { destinations(other, $0).contains { $0 === object } }) {
                        found.append("\(name(object)).\(relationship.name) has \(name(other)), but not the inverse")
                    }
                }
            }
        }
        return found
    }
}
