// What becomes of the relationships of an object whose deletion is taken back.

extension GraphObject {
    /// Brings the inverses of the object's relationships back, which its deletion had cleared. What belongs to another
    /// object by now stays there.
    func reestablishInverses() {
        for relationship in entity.relationships {
            guard let inverse = relationship.inverse else { continue }
            for destination in destinations(of: relationship) {
                if destination.accepts(self, along: inverse) {
                    destination.remember(self, along: inverse)
                } else {
                    forget(destination, along: relationship)
                }
            }
            for destination in lastDestinations(of: relationship) where destination.isObjectDeleted {
                part(from: destination, along: relationship, inverse)
            }
        }
    }

    /// Makes the relationship to a destination that was deleted together with the object, and stays so, what it would be
    /// had only the destination been deleted: it remembers the object, and its own delete rule decides whether the object
    /// does.
    private func part(from destination: any GraphObject, along relationship: Relationship, _ inverse: Relationship) {
        if destination.accepts(self, along: inverse) { destination.remember(self, along: inverse) }
        lose(destination, along: relationship, by: inverse.deleteRule)
    }

    /// Whether `other` can be put into the own side of a relationship without taking the place of another object.
    private func accepts(_ other: any GraphObject, along relationship: Relationship) -> Bool {
        if relationship.isToMany { return true }
        let current = destination(at: relationship.slot)
        return current == nil || current === other
    }

    /// Puts `other` into the own side of a relationship.
    private func remember(_ other: any GraphObject, along relationship: Relationship) {
        if relationship.isToMany {
            addMember(other.state.pointee.key, to: relationship)
        } else if destinationKey(at: relationship.slot) != other.state.pointee.key {
            storeDestination(other.state.pointee.key, at: relationship.slot)
        }
    }
}
