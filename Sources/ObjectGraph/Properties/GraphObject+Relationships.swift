extension GraphObject {
    // MARK: Reading

    /// The destination of a to-one relationship; nil if it is deleted.
    public func destination(at slot: Int) -> (any GraphObject)? {
        switch state.knownDestination(at: slot) {
        case .object(let destination): return destination
        case .deleted: return nil
        case .unknown: break
        }
        guard let destination = lastDestination(at: slot) else { return nil }
        // The delete rules have just been applied.
        return !destination.life.isGone ? destination : nil
    }

    /// The destination of a to-one relationship, which may be deleted.
    public func lastDestination(at slot: Int) -> (any GraphObject)? {
        settleFirstValues()
        guard let handler = state.pointee.handler, slot < handler.entity.traits.count else { return nil }
        let destinationIndex = handler.entity.traits[slot].destinationIndex
        guard destinationIndex >= 0 else { return nil }
        guard let context = handler.context else {
            let key = destinationKey(at: slot)
            if key != 0 { reportLoss(at: slot) }
            return handler.detachedGraph?.object(forKey: key)
        }
        context.deletePropagation.run()
        let key = destinationKey(at: slot)
        if key == 0 { return nil }
        guard case .relationship(let relationship) = handler.entity.properties[slot] else { return nil }
        if let known = context.identityMap.destination(forKey: key, of: relationship) { return known }
        return context.loader.destination(of: relationship, key: key, from: self)
    }

    /// The members of a to-many relationship: in its order if it is ordered; otherwise the saved members by primary
    /// key, followed by the new members.
    public func memberObjects(at slot: Int) -> [any GraphObject] {
        guard let loaded = loadedMembers(at: slot) else { return [] }
        return withExtendedLifetime(loaded) {
            if let graph = loaded.handler.detachedGraph { return loaded.members.keys.compactMap(graph.object) }
            guard let context = loaded.handler.context else { return [] }
            return context.loader.objects(with: loaded.members.keys, of: loaded.relationship.destination)
        }
    }

    /// The members of a to-many relationship, as an array of their class; empty for another class.
    public func memberObjects<M: GraphObject>(at slot: Int, as type: M.Type) -> [M] {
        guard let loaded = loadedMembers(at: slot), let context = loaded.handler.context,
            context.identityMap.handlers[loaded.relationship.destination.index].objectType is M.Type
        else { return memberObjects(at: slot).compactMap { $0 as? M } }
        if let recent = recentMembers(loaded.members, of: loaded.relationship, as: type) { return recent }
        let capacity = loaded.members.count
        if capacity == 0 { return [] }
        return withExtendedLifetime(loaded) {
            [M](unsafeUninitializedCapacity: capacity) { buffer, count in
                // The class does not affect the representation of a reference. Without generic code, the loop is as
                // fast as possible.
                count = buffer.withMemoryRebound(to: AnyObject.self) { context.loader.objects(of: loaded, into: $0) }
            }
        }
    }

    /// The members of a to-many relationship, loaded unless the object is in no context; nil if there are none.
    private func loadedMembers(at slot: Int) -> LoadedMembers? {
        settleFirstValues()
        guard let handler = state.pointee.handler,
            case .relationship(let relationship) = handler.entity.properties[slot]
        else { return nil }
        let members = members(of: relationship)
        guard let context = handler.context else {
            reportLoss(at: slot)
            return LoadedMembers(handler: handler, relationship: relationship, members: members, objects: [])
        }
        context.deletePropagation.run()
        let objects = members.isLoaded ? [] : context.loader.loadMembers(of: relationship, for: self)
        return LoadedMembers(handler: handler, relationship: relationship, members: members, objects: objects)
    }

    /// The objects to which a relationship of either cardinality leads.
    func destinations(of relationship: Relationship) -> [any GraphObject] {
        if relationship.isToMany { return memberObjects(at: relationship.slot) }
        return destination(at: relationship.slot).map { [$0] } ?? []
    }

    /// The registered objects to which a relationship leads, including deleted ones.
    func lastDestinations(of relationship: Relationship) -> [any GraphObject] {
        guard let context = state.pointee.handler?.context else { return [] }
        let keys =
            relationship.isToMany ? Array(members(of: relationship).keys) : [destinationKey(at: relationship.slot)]
        return keys.compactMap { context.identityMap.destination(forKey: $0, of: relationship) }
    }

    // MARK: Writing

    /// Sets the destination of a to-one relationship, and updates the inverse.
    public func setDestination(_ destination: (any GraphObject)?, at slot: Int) {
        settleFirstValues()
        if let destination { joinGraph(of: destination) }
        guard let relationship = relationship(at: slot) else { return }
        let oldKey = destinationKey(at: slot)
        let newKey = destination?.state.pointee.key ?? 0
        guard oldKey != newKey else { return }
        if let inverse = relationship.inverse {
            if oldKey != 0, let old = registered(oldKey, along: relationship) ?? self.destination(at: slot) {
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
        let hasSharedSide = relationship.hasSharedSide
        let old =
            hasSharedSide && oldKey != 0 ? registered(oldKey, along: relationship) ?? self.destination(at: slot) : nil
        storeDestination(newKey, at: slot)
        if state.pointee.life.isMissing { state.pointee.handler?.context?.changeTracker.markChanged(self) }
        guard hasSharedSide else { return }
        if let old { didPart(from: old, along: relationship) }
        if let destination { didRelate(to: destination, along: relationship) }
    }

    /// Sets the members of a to-many relationship, and updates the inverses. An object that occurs twice counts once.
    ///
    /// - Complexity: O(number of objects) to find the differences, and O(1) for each member that differs.
    ///   ``addMember(_:at:)`` and ``removeMember(_:at:)`` do not depend on the number of objects.
    public func setMembers(_ objects: some Collection<any GraphObject>, at slot: Int) {
        settleFirstValues()
        for object in objects { joinGraph(of: object) }
        guard let relationship = relationship(at: slot) else { return }
        let objects = Array(objects)
        let old = memberObjects(at: slot)
        let start = zip(objects, old).prefix { $0 === $1 }.count
        let end = zip(objects[start...].reversed(), old[start...].reversed()).prefix { $0 === $1 }.count
        replaceMembers(old[start..<(old.count - end)], by: objects[start..<(objects.count - end)], of: relationship)
        if relationship.isOrdered { order(objects, of: relationship) }
    }

    /// Removes members that are not among the new ones, and adds new ones that are not members yet.
    private func replaceMembers(
        _ old: ArraySlice<any GraphObject>,
        by new: ArraySlice<any GraphObject>,
        of relationship: Relationship
    ) {
        if old.isEmpty, new.isEmpty { return }
        let newIdentities = Set(new.map { ObjectIdentifier($0) })
        for object in old where !newIdentities.contains(ObjectIdentifier(object)) { remove(object, from: relationship) }
        let members = members(of: relationship)
        for object in new where !members.contains(object.state.pointee.key) { add(object, to: relationship) }
    }

    /// Changes the order of the members of an ordered relationship to that of the objects, which are the members.
    private func order(_ objects: [any GraphObject], of relationship: Relationship) {
        let members = members(of: relationship)
        if members.keys.elementsEqual(objects.lazy.map { $0.state.pointee.key }) { return }
        var seen: Set<Int64> = []
        let keys = objects.map { $0.state.pointee.key }.filter { seen.insert($0).inserted }
        if members.keys.elementsEqual(keys) { return }
        recorder?.willChangeOrder(of: self, relationship, members)
        changing(relationship.slot) {
            members.reorder(keys)
            noteChange()
        }
    }

    /// Changes the order of the members of an ordered relationship. Members that the order does not contain follow.
    ///
    /// - Parameter isStored: Whether the store has the same order.
    func restoreOrder(_ order: [Int64], of relationship: Relationship, isStored: Bool) {
        let members = members(of: relationship)
        if !members.isLoaded { state.pointee.handler?.context?.loader.loadMembers(of: relationship, for: self) }
        recorder?.willChangeOrder(of: self, relationship, members)
        changing(relationship.slot) {
            members.restoreOrder(order, isStored: isStored)
            noteChange()
        }
    }

    /// Adds an object to a to-many relationship, at the end if it is ordered, and updates the inverse. An object that
    /// is already a member keeps its position.
    ///
    /// - Complexity: O(1), independent of the number of members; those of a saved object are not read.
    public func addMember(_ object: any GraphObject, at slot: Int) {
        settleFirstValues()
        joinGraph(of: object)
        guard let relationship = relationship(at: slot) else { return }
        loadIfOrdered(relationship)
        let isMember =
            if let inverse = relationship.inverse, !inverse.isToMany {
                object.destinationKey(at: inverse.slot) == state.pointee.key
            } else {
                members(of: relationship).contains(object.state.pointee.key)
            }
        if !isMember { add(object, to: relationship) }
    }

    /// Removes an object from a to-many relationship, and updates the inverse. Does nothing if the object is not a
    /// member.
    ///
    /// - Complexity: O(1); the first call reads the members.
    public func removeMember(_ object: any GraphObject, at slot: Int) {
        settleFirstValues()
        guard let relationship = relationship(at: slot) else { return }
        if !members(of: relationship).isLoaded { _ = memberObjects(at: slot) }
        if members(of: relationship).contains(object.state.pointee.key) { remove(object, from: relationship) }
    }

    /// Loads the members of an ordered relationship: a change of the order is written as the order of all members.
    private func loadIfOrdered(_ relationship: Relationship) {
        if relationship.isOrdered, !members(of: relationship).isLoaded { _ = memberObjects(at: relationship.slot) }
    }

    private func remove(_ object: any GraphObject, from relationship: Relationship) {
        removeMember(object.state.pointee.key, from: relationship)
        if let inverse = relationship.inverse {
            object.forget(self, along: inverse)
        } else if relationship.hasSharedSide {
            didPart(from: object, along: relationship)
        }
    }

    /// Adds an object that is not a member yet.
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
        if relationship.hasSharedSide { didRelate(to: object, along: relationship) }
    }

    /// Removes `other` from a relationship of this object.
    func forget(_ other: any GraphObject, along relationship: Relationship) {
        if relationship.isToMany {
            removeMember(other.state.pointee.key, from: relationship)
        } else {
            clearDestination(of: relationship, ifKey: other.state.pointee.key)
        }
    }

    func addMember(_ key: Int64, to relationship: Relationship) {
        let members = members(of: relationship)
        recorder?.willChangeOrder(of: self, relationship, members)
        changing(relationship.slot) {
            guard members.add(key) else { return }
            recorder?.didAdd(key, to: self, relationship)
            noteChange()
        }
    }

    func removeMember(_ key: Int64, from relationship: Relationship) {
        let members = members(of: relationship)
        if let recorder {
            // An undo requires the position of the member.
            if relationship.isOrdered, !members.isLoaded {
                state.pointee.handler?.context?.loader.loadMembers(of: relationship, for: self)
            }
            recorder.willChangeOrder(of: self, relationship, members)
        }
        changing(relationship.slot) {
            guard let removal = members.remove(key) else { return }
            recorder?.didRemove(key, from: self, relationship, removal)
            noteChange()
        }
    }

    /// Clears a to-one relationship if it leads to the object with the given key.
    func clearDestination(of relationship: Relationship, ifKey key: Int64) {
        if destinationKey(at: relationship.slot) == key { storeDestination(0, at: relationship.slot) }
    }

    /// Writes the key of a destination, without a change of the inverse.
    func storeDestination(_ key: Int64, at slot: Int) {
        if state.pointee.chunk == nil { fireFault() }
        recorder?.willSetDestination(of: self, at: slot)
        changing(slot) {
            ensureChanges()[slot] = .value(key == 0 ? .null : .integer(key))
            noteChange()
        }
    }

    private func relationship(at slot: Int) -> Relationship? {
        if case .relationship(let relationship) = entity.properties[slot] { relationship } else { nil }
    }

    private func registered(_ key: Int64, along relationship: Relationship) -> (any GraphObject)? {
        guard let handler = state.pointee.handler else { return nil }
        if let graph = handler.detachedGraph { return graph.object(forKey: key) }
        return handler.context?.identityMap.destination(forKey: key, of: relationship)
    }

    // MARK: Graphs

    /// Joins this object and another one to the same graph: the context of either, otherwise a common detached graph.
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
        case (nil, nil):
            DetachedGraph.join(self, other)
            establishPendingRelationships()
            other.establishPendingRelationships()
        }
    }

    /// Establishes the relationships to the objects that an initializer assigned.
    @inline(__always)
    func settleFirstValues() {
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

/// The destination of a relationship, if it is known without further checks.
private enum KnownDestination {
    case object(any GraphObject)
    case deleted
    /// Further checks are needed.
    case unknown
}

extension UnsafeMutablePointer<ObjectState> {
    /// The destination of a to-one relationship in the most frequent case: the object has no changes and the
    /// destination is registered.
    fileprivate func knownDestination(at slot: Int) -> KnownDestination {
        guard borrowedChanges == nil, let chunk = borrowedChunk, let handler = borrowedHandler,
            pointee.flags.isDisjoint(with: [.hasPendingRelationships, .incomplete])
        else { return .unknown }
        let key = chunk._withUnsafeGuaranteedRef { chunk in
            let row = Row(chunk: chunk, offset: pointee.rowOffset)
            return slot < row.slotCount ? row.integer(at: slot) : 0
        }
        return handler._withUnsafeGuaranteedRef { $0.knownDestination(forKey: key, at: slot) }
    }
}

extension FaultHandler {
    @inline(__always)
    fileprivate func knownDestination(forKey key: Int64, at slot: Int) -> KnownDestination {
        guard key > 0, let context = borrowedContext, slot < entity.traits.count else { return .unknown }
        let destinationIndex = entity.traits[slot].destinationIndex
        guard destinationIndex >= 0 else { return .unknown }
        return context._withUnsafeGuaranteedRef { context in
            // Delete rules that have not been applied yet may delete it.
            guard context.changeTracker.unpropagatedDeletes.isEmpty || context.deletePropagation.isRunning else {
                return .unknown
            }
            let identityMap = context.identityMap
            let found = identityMap.handlers.borrowed(at: destinationIndex)._withUnsafeGuaranteedRef {
                $0.table.borrowedObject(forKey: key)
            }
            guard let found else { return .unknown }
            // In a damaged store a key may belong to any object of the table.
            guard found.entity == destinationIndex || identityMap.isKind(found.entity, of: destinationIndex) else {
                return .unknown
            }
            return identityMap.handlers.borrowed(at: found.entity)._withUnsafeGuaranteedRef { handler in
                guard !handler.state(of: found.object).pointee.life.isGone else { return .deleted }
                return .object(handler.graphObject(found.object.takeUnretainedValue()))
            }
        }
    }
}

/// The members of an object's relationship.
private struct LoadedMembers {
    /// The object's handler.
    let handler: FaultHandler
    let relationship: Relationship
    let members: ToManyMembers
    /// The objects that were just read: they must outlive the sweeps that registering objects may cause.
    let objects: [AnyObject]
}

extension ObjectLoader {
    /// Writes the members that are not deleted to uninitialized memory, and returns their number.
    fileprivate func objects(of loaded: LoadedMembers, into buffer: UnsafeMutableBufferPointer<AnyObject>) -> Int {
        let destination = loaded.relationship.destination
        var count = 0
        forEachObject(with: loaded.members.keys, of: destination) { _, object in
            guard count < buffer.count else { return }
            buffer.initializeElement(at: count, to: object.takeUnretainedValue())
            count += 1
        }
        return count
    }
}
