extension GraphObject {
    // MARK: Reading

    /// The object that a to-one relationship leads to; none where it is deleted.
    public func destination(at slot: Int) -> (any GraphObject)? {
        guard let destination = lastDestination(at: slot) else { return nil }
        return destination.isObjectDeleted ? nil : destination
    }

    /// The object that a to-one relationship leads to, or led to before it was deleted.
    public func lastDestination(at slot: Int) -> (any GraphObject)? {
        if state.pointee.flags.contains(.hasPendingRelationships) { establishPendingRelationships() }
        guard let handler = state.pointee.handler,
            case .relationship(let relationship) = handler.entity.properties[slot]
        else {
            return nil
        }
        handler.context?.propagateDeletes()
        let key = destinationKey(at: slot)
        guard key != 0 else { return nil }
        if let island = handler.island { return island.object(forKey: key) }
        return handler.context?.destination(of: relationship, key: key, from: self)
    }

    /// The objects that a to-many relationship leads to: in its order where it is ordered, else the saved ones by primary
    /// key and the new ones behind them.
    public func memberObjects(at slot: Int) -> [any GraphObject] {
        if state.pointee.flags.contains(.hasPendingRelationships) { establishPendingRelationships() }
        guard let handler = state.pointee.handler,
            case .relationship(let relationship) = handler.entity.properties[slot]
        else {
            return []
        }
        let members = members(of: relationship)
        if let island = handler.island { return members.keys.compactMap { island.object(forKey: $0) } }
        guard let context = handler.context else { return [] }
        context.propagateDeletes()
        // What was loaded must outlive the sweeps that registering objects may cause.
        let loaded = members.isLoaded ? [] : context.loadMembers(of: relationship, for: self)
        return withExtendedLifetime(loaded) {
            context.objects(with: members.keys, of: relationship.destination)
        }
    }

    /// The objects that a relationship leads to, whatever its cardinality.
    func destinations(of relationship: Relationship) -> [any GraphObject] {
        if relationship.isToMany { return memberObjects(at: relationship.slot) }
        return destination(at: relationship.slot).map { [$0] } ?? []
    }

    /// What is known of the members of a to-many relationship.
    func members(of relationship: Relationship) -> ToManyMembers {
        let changes = ensureChanges()
        if let members = changes.members(at: relationship.slot) { return members }
        let isSaved = state.pointee.key > 0
        let members = isSaved ? ToManyMembers() : ToManyMembers(loaded: EmptyCollection())
        changes[relationship.slot] = .members(members)
        return members
    }

    // MARK: Writing

    /// Makes a to-one relationship lead to another object, and sees to the inverse.
    public func setDestination(_ destination: (any GraphObject)?, at slot: Int) {
        if state.pointee.flags.contains(.hasPendingRelationships) { establishPendingRelationships() }
        if let destination { joinGraph(of: destination) }
        guard let relationship = relationship(at: slot) else { return }
        let oldKey = destinationKey(at: slot)
        let newKey = destination?.state.pointee.key ?? 0
        guard oldKey != newKey else { return }
        if let inverse = relationship.inverse {
            if oldKey != 0, let old = registered(oldKey, in: relationship.destination) ?? self.destination(at: slot) {
                old.forget(self, along: inverse)
            }
            if let destination {
                if inverse.isToMany {
                    destination.addMember(state.pointee.key, to: inverse)
                } else {
                    if let rival = destination.lastDestination(at: inverse.slot), rival !== self {
                        rival.storeDestination(0, at: slot)
                    }
                    destination.storeDestination(state.pointee.key, at: inverse.slot)
                }
            }
        }
        storeDestination(newKey, at: slot)
    }

    /// Makes a to-many relationship lead to other objects, and sees to the inverse. An object that comes twice counts
    /// once.
    public func setMembers(_ objects: some Sequence<any GraphObject>, at slot: Int) {
        if state.pointee.flags.contains(.hasPendingRelationships) { establishPendingRelationships() }
        var seen: Set<ObjectIdentifier> = []
        let objects = objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
        for object in objects { joinGraph(of: object) }
        guard let relationship = relationship(at: slot) else { return }
        let old = memberObjects(at: slot)
        let oldIdentities = Set(old.map { ObjectIdentifier($0) })
        for object in old where !seen.contains(ObjectIdentifier(object)) {
            removeMember(object.state.pointee.key, from: relationship)
            if let inverse = relationship.inverse { object.forget(self, along: inverse) }
        }
        for object in objects where !oldIdentities.contains(ObjectIdentifier(object)) {
            add(object, to: relationship)
        }
        let keys = objects.map { $0.state.pointee.key }
        let members = members(of: relationship)
        if relationship.isOrdered, !members.keys.elementsEqual(keys) {
            recorder?.willChangeOrder(of: self, relationship, members)
            members.reorder(keys)
            didChange()
        }
    }

    /// Adds an object that is no member yet.
    func add(_ object: any GraphObject, to relationship: Relationship) {
        if let inverse = relationship.inverse {
            if inverse.isToMany {
                object.addMember(state.pointee.key, to: inverse)
            } else {
                if let rival = object.lastDestination(at: inverse.slot), rival !== self {
                    rival.removeMember(object.state.pointee.key, from: relationship)
                }
                object.storeDestination(state.pointee.key, at: inverse.slot)
            }
        }
        addMember(object.state.pointee.key, to: relationship)
    }

    /// Takes `other` out of the own side of a relationship.
    private func forget(_ other: any GraphObject, along relationship: Relationship) {
        if relationship.isToMany {
            removeMember(other.state.pointee.key, from: relationship)
        } else {
            clearDestination(of: relationship, ifKey: other.state.pointee.key)
        }
    }

    func addMember(_ key: Int64, to relationship: Relationship) {
        let members = members(of: relationship)
        recorder?.willChangeOrder(of: self, relationship, members)
        guard members.add(key) else { return }
        recorder?.didAdd(key, to: self, relationship)
        didChange()
    }

    func removeMember(_ key: Int64, from relationship: Relationship) {
        let members = members(of: relationship)
        if let recorder {
            // An undo has to know the member's place.
            if relationship.isOrdered, !members.isLoaded {
                _ = state.pointee.handler?.context?.loadMembers(of: relationship, for: self)
            }
            recorder.willChangeOrder(of: self, relationship, members)
        }
        guard let removal = members.remove(key) else { return }
        recorder?.didRemove(key, from: self, relationship, removal)
        didChange()
    }

    /// Clears a to-one relationship if it leads to the object with a key.
    func clearDestination(of relationship: Relationship, ifKey key: Int64) {
        if destinationKey(at: relationship.slot) == key { storeDestination(0, at: relationship.slot) }
    }

    /// Writes the key of a destination, without regard to the inverse.
    func storeDestination(_ key: Int64, at slot: Int) {
        if state.pointee.chunk == nil { fireFault() }
        recorder?.willSetDestination(of: self, at: slot)
        ensureChanges()[slot] = .value(key == 0 ? .null : .integer(key))
        didChange()
    }

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
        }
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

    /// Tells the context of a change.
    func didChange() {
        if let context = state.pointee.handler?.context { context.markUpdated(self) }
    }

    private func relationship(at slot: Int) -> Relationship? {
        if case .relationship(let relationship) = entity.properties[slot] { relationship } else { nil }
    }

    private func registered(_ key: Int64, in entity: Entity) -> (any GraphObject)? {
        guard let handler = state.pointee.handler else { return nil }
        if let island = handler.island { return island.object(forKey: key) }
        return handler.context?.knownObject(forKey: key, of: entity)
    }

    // MARK: Graphs

    /// Brings this object and another one into the same graph: into the context of the one that has one, else into a
    /// common island.
    func joinGraph(of other: any GraphObject) {
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
        case (nil, nil): Island.join(self, other)
        }
    }

    /// Relates the object to what an initializer gave to its relationships before the object could be referred to.
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
