// Relationships of either cardinality, and the graph that related objects share.

extension GraphObject {
    /// The objects to which a relationship of either cardinality leads.
    func destinations(of relationship: Relationship) -> [any GraphObject] {
        if relationship.isToMany { return memberObjects(at: relationship.slot) }
        return destination(at: relationship.slot).map { [$0] } ?? []
    }

    /// The registered objects to which a relationship leads, including deleted objects.
    func lastDestinations(of relationship: Relationship) -> [any GraphObject] {
        guard let context = state.pointee.handler?.context else { return [] }
        let keys =
            relationship.isToMany ? Array(members(of: relationship).keys) : [destinationKey(at: relationship.slot)]
        return keys.compactMap { context.identityMap.destination(forKey: $0, of: relationship) }
    }

    /// Removes `other` from a relationship of this object.
    func forget(_ other: any GraphObject, along relationship: Relationship) {
        if relationship.isToMany {
            removeMember(other.state.pointee.key, from: relationship)
        } else {
            clearDestination(of: relationship, ifKey: other.state.pointee.key)
        }
    }

    /// The relationship in a slot; nil for an attribute.
    func relationship(at slot: Int) -> Relationship? {
        if case .relationship(let relationship) = entity.properties[slot] { relationship } else { nil }
    }

    // MARK: Graphs

    /// Joins this object and `other` to the same graph: the context of either, otherwise a common detached graph.
    func joinGraph(of other: any GraphObject) {
        if let known = contextAddress, known == other.contextAddress { return }
        let context = state.pointee.handler?.context
        let otherContext = other.state.pointee.handler?.context
        switch (context, otherContext) {
        case (let context?, let otherContext?):
            precondition(
                context === otherContext,
                "objects of different contexts cannot be related: fetch one in the other's"
            )
        case (let context?, nil): context.insert(other)
        case (nil, let otherContext?): otherContext.insert(self)
        case (nil, nil):
            DetachedGraph.join(self, other)
            establishPendingRelationships()
            other.establishPendingRelationships()
        }
    }

    /// The address of the context, which can be compared without retaining the context; nil if there is no context.
    private var contextAddress: UnsafeMutableRawPointer? {
        state.borrowedHandler?._withUnsafeGuaranteedRef { $0.borrowedContext?.toOpaque() }
    }

    /// Establishes the relationships to the objects that an initializer assigned.
    @inline(__always)
    func completeInitialization() {
        if state.pointee.flags.isDisjoint(with: [.hasPendingRelationships, .incomplete]) { return }
        completeStateIfNeeded()
        establishPendingRelationships()
    }

    /// Establishes the relationships to objects that an initializer assigned before other objects could refer to this
    /// object.
    func establishPendingRelationships() {
        guard state.pointee.flags.contains(.hasPendingRelationships), let changes = state.pointee.changes else {
            return
        }
        state.pointee.flags.remove(.hasPendingRelationships)
        for property in entity.properties {
            guard case .relationship(let relationship) = property, case .pending(let objects) = changes[property.slot]
            else { continue }
            changes[property.slot] = .unset
            if relationship.isToMany {
                setMembers(objects, at: property.slot)
            } else {
                setDestination(objects.first, at: property.slot)
            }
        }
    }
}
