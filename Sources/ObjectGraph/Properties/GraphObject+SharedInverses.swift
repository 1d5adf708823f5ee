// Several relationships of an entity may name the same inverse: a yard has leading and trailing plants, and a plant has
// a yard. Each of them has separate members, and the inverse a separate destination. The functions in this file keep
// them consistent:
//
// - An object that is added to one of the relationships gets its source as the inverse's destination.
// - An object that is removed from the last of the relationships loses that destination.
// - An object whose inverse is set is added to the first relationship, unless it is in one of them.
// - An object whose inverse is cleared is removed from all of them.
//
// Each step changes a side only if it differs, so a chain of steps ends.

extension Relationship {
    /// Whether the relationship has a shared inverse, or is a shared inverse.
    var hasSharedSide: Bool { sharedInverse != nil || !sharers.isEmpty }

    /// The to-many relationships of the destination that the relationship can make its source a member of.
    var lists: [Relationship] {
        if let inverse { return inverse.isToMany ? [inverse] : [] }
        return sharers.isEmpty ? [] : sharers.filter(\.isToMany)
    }
}

extension GraphObject {
    /// Sets the shared inverse after `other` was added to a relationship with a shared side.
    func didRelate(to other: any GraphObject, along relationship: Relationship) {
        if let inverse = relationship.sharedInverse {
            if !other.isRelated(to: self, along: inverse) { other.relate(to: self, along: inverse) }
        } else if let first = relationship.sharers.first,
            !relationship.sharers.contains(where: { other.isRelated(to: self, along: $0) })
        {
            other.relate(to: self, along: first)
        }
    }

    /// Clears the shared inverse after `other` was removed from a relationship with a shared side.
    func didPart(from other: any GraphObject, along relationship: Relationship) {
        if let inverse = relationship.sharedInverse {
            guard !inverse.sharers.contains(where: { isRelated(to: other, along: $0) }) else { return }
            if other.isRelated(to: self, along: inverse) { other.part(from: self, along: inverse) }
        } else {
            for sharer in relationship.sharers where other.isRelated(to: self, along: sharer) {
                other.part(from: self, along: sharer)
            }
        }
    }

    /// Relates another object to a destination of this object along the relationships of the destination that share the
    /// inverse `relationship` and lead to this object.
    func passMembership(along relationship: Relationship, of destination: any GraphObject, to other: any GraphObject) {
        for sharer in relationship.sharers where destination.isRelated(to: self, along: sharer) {
            destination.relate(to: other, along: sharer)
        }
    }

    /// Whether the relationship leads to `other`. Members that are not loaded are read.
    func isRelated(to other: any GraphObject, along relationship: Relationship) -> Bool {
        let key = other.state.pointee.key
        guard relationship.isToMany else { return destinationKey(at: relationship.slot) == key }
        if !members(of: relationship).isLoaded { _ = memberObjects(at: relationship.slot) }
        return members(of: relationship).contains(key)
    }

    private func relate(to other: any GraphObject, along relationship: Relationship) {
        if relationship.isToMany {
            addMember(other, at: relationship.slot)
        } else {
            setDestination(other, at: relationship.slot)
        }
    }

    private func part(from other: any GraphObject, along relationship: Relationship) {
        if relationship.isToMany {
            removeMember(other, at: relationship.slot)
        } else {
            setDestination(nil, at: relationship.slot)
        }
    }
}
