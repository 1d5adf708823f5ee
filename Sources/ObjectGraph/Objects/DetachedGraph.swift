/// Objects that are related to each other, none of them in a context.
///
/// An object holds its island, and the island holds the values of all its objects, but not the objects themselves: there
/// is no cycle, and the whole is freed with the last object that somebody refers to. An object that nobody refers to is
/// made again out of its values when a relationship leads to it.
final class Island {
    private struct Member {
        let entity: Entity
        let objectType: any GraphObject.Type
        let changes: ObjectChanges
        weak var object: (any GraphObject)?
    }

    private var members: [Int64: Member] = [:]
    /// Empty; what the handlers have for a table.
    private let table = IdentityTable()

    /// The object with a key.
    func object(forKey key: Int64) -> (any GraphObject)? {
        guard let member = members[key] else { return nil }
        if let object = member.object { return object }
        let handler = handler(for: member.entity, member.objectType)
        var state = ObjectState(handler: handler, key: key)
        state.changes = member.changes
        let object = handler.makeObject(state)
        members[key]?.object = object
        return object
    }

    /// Brings two objects that are in no context onto the same island.
    static func join(_ first: any GraphObject, _ second: any GraphObject) {
        switch (first.state.pointee.handler?.island, second.state.pointee.handler?.island) {
        case (nil, nil):
            let island = Island()
            island.settle(first)
            if first !== second { island.settle(second) }
        case (let island?, nil): island.settle(second)
        case (nil, let island?): island.settle(first)
        case (let island?, let other?):
            guard island !== other else { return }
            if island.members.count >= other.members.count {
                island.absorb(other)
            } else {
                other.absorb(island)
            }
        }
    }

    /// Takes in an object that is in no graph.
    private func settle(_ object: any GraphObject) {
        object.completeState()
        object.turnRowIntoChanges()
        settle(object, key: object.ensureKey())
        object.establishPendingRelationships()
    }

    /// Takes in an object without a row under the temporary key that others know it by.
    func settle(_ object: any GraphObject, key: Int64) {
        let entity = object.entity
        let objectType = type(of: object)
        members[key] = Member(
            entity: entity,
            objectType: objectType,
            changes: object.ensureChanges(),
            object: object
        )
        object.state.pointee.handler = handler(for: entity, objectType)
        object.state.pointee.key = key
        object.life.leaveGraph()
        object.state.pointee.flags = object.state.pointee.flags.intersection(
            [.hasPendingRelationships, .observed, .hasUnreadValues]
        )
    }

    private func absorb(_ other: Island) {
        for (key, member) in other.members {
            members[key] = member
            if let object = member.object {
                object.state.pointee.handler = handler(for: member.entity, member.objectType)
            }
        }
        other.members = [:]
    }

    /// Gives the objects away, those first that came first, and ends.
    func dissolve() -> [(key: Int64, object: any GraphObject)] {
        let all = members.keys.sorted(by: >).compactMap { key in object(forKey: key).map { (key, $0) } }
        members = [:]
        for (_, object) in all { object.state.pointee.handler = nil }
        return all.map { (key: $0.0, object: $0.1) }
    }

    /// A handler for one object. The island does not hold its handlers, since they hold the island.
    private func handler(for entity: Entity, _ objectType: any GraphObject.Type) -> FaultHandler {
        FaultHandler(entity: entity, objectType: objectType, table: table, context: nil, island: self)
    }
}
