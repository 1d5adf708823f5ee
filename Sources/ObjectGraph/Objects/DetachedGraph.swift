/// Objects that are related to each other, none of them in a context.
///
/// An object refers to its graph, and the graph to the values of all its objects, but not to the objects themselves:
/// there is no cycle, and the graph is freed with the last object to which the program refers. Any other object is
/// created again from its values when a relationship leads to it.
final class DetachedGraph {
    private struct Member {
        let entity: Entity
        let objectType: any GraphObject.Type
        let changes: ObjectChanges
        weak var object: (any GraphObject)?
    }

    private var members: [Int64: Member] = [:]
    /// An empty table, which the handlers require.
    private let table = ObjectTable()

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

    /// Joins two objects that are in no context to one graph. Their pending relationships stay pending.
    static func join(_ first: any GraphObject, _ second: any GraphObject) {
        switch (first.state.pointee.handler?.detachedGraph, second.state.pointee.handler?.detachedGraph) {
        case (nil, nil):
            let graph = DetachedGraph()
            graph.add(first)
            if first !== second { graph.add(second) }
        case (let graph?, nil): graph.add(second)
        case (nil, let graph?): graph.add(first)
        case (let graph?, let other?):
            guard graph !== other else { return }
            if graph.members.count >= other.members.count {
                graph.absorb(other)
            } else {
                other.absorb(graph)
            }
        }
    }

    /// Adds an object that is in no graph.
    private func add(_ object: any GraphObject) {
        object.completeState()
        object.turnRowIntoChanges()
        add(object, key: object.ensureKey())
    }

    /// Adds an object without a row under the temporary key by which other objects refer to it.
    func add(_ object: any GraphObject, key: Int64) {
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

    private func absorb(_ other: DetachedGraph) {
        for (key, member) in other.members {
            members[key] = member
            if let object = member.object {
                object.state.pointee.handler = handler(for: member.entity, member.objectType)
            }
        }
        other.members = [:]
    }

    /// Empties the graph and returns its objects, oldest first.
    func dissolve() -> [(key: Int64, object: any GraphObject)] {
        let all = members.keys.sorted(by: >).compactMap { key in object(forKey: key).map { (key, $0) } }
        members = [:]
        for (_, object) in all { object.state.pointee.handler = nil }
        return all.map { (key: $0.0, object: $0.1) }
    }

    /// Returns a handler for one object. The graph does not refer to its handlers, since they refer to the graph.
    private func handler(for entity: Entity, _ objectType: any GraphObject.Type) -> FaultHandler {
        FaultHandler(entity: entity, objectType: objectType, table: table, detachedGraph: self)
    }
}
