// To-many relationships.

extension GraphObject {
    // MARK: Reading

    /// The members of a to-many relationship: in its order if it is ordered; otherwise the saved members by primary
    /// key, followed by the new members.
    public func memberObjects(at slot: Int) -> [any GraphObject] {
        guard let loaded = loadedMembers(at: slot) else { return [] }
        return withExtendedLifetime(loaded) {
            if let graph = loaded.handler.detachedGraph { return loaded.members.keys.compactMap(graph.object) }
            guard let context = loaded.handler.context else { return [] }
            context.loader.verifyAdded(loaded)
            return context.loader.objects(with: loaded.members.keys, of: loaded.relationship.destination)
        }
    }

    /// Loads the members of all to-many relationships.
    func loadMembers() {
        for relationship in entity.relationships where relationship.isToMany {
            _ = memberObjects(at: relationship.slot)
        }
    }

    /// The members of a to-many relationship, as an array of their class; empty for another class.
    public func memberObjects<M: GraphObject>(at slot: Int, as type: M.Type) -> [M] {
        guard let loaded = loadedMembers(at: slot), let context = loaded.handler.context,
            context.identityMap.handlers[loaded.relationship.destination.index].objectType is M.Type
        else { return memberObjects(at: slot).compactMap { $0 as? M } }
        context.loader.verifyAdded(loaded)
        let (members, relationship) = (loaded.members, loaded.relationship)
        if let recent = recentMembers(members, of: relationship, in: context, as: type) { return recent }
        let capacity = members.count
        if capacity == 0 { return [] }
        return withExtendedLifetime(loaded) {
            let objects = [M](unsafeUninitializedCapacity: capacity) { buffer, count in
                // The class does not affect the representation of a reference. Without generic code, the loop is as
                // fast as possible.
                count = buffer.withMemoryRebound(to: AnyObject.self) { context.loader.objects(of: loaded, into: $0) }
            }
            if capacity >= Self.smallestKeptArray { keepRecentMembers(objects, members, of: relationship, in: context) }
            return objects
        }
    }

    /// The smallest number of members that are worth keeping as an array: it takes some 100 ns to store an array, and 25
    /// ns for each member to make it again.
    static var smallestKeptArray: Int { 128 }

    /// The members of a to-many relationship, loaded unless the object is in no context; nil if there are none.
    private func loadedMembers(at slot: Int) -> LoadedMembers? {
        completeInitialization()
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

    // MARK: Writing

    /// Sets the members of a to-many relationship, and updates the inverses. An object that occurs twice counts once.
    ///
    /// - Complexity: O(number of objects) to find the differences, and O(1) for each member that differs.
    ///   ``addMember(_:at:)`` and ``removeMember(_:at:)`` do not depend on the number of objects.
    public func setMembers(_ objects: some Collection<any GraphObject>, at slot: Int) {
        completeInitialization()
        let objects = Array(objects)
        for object in objects { joinGraph(of: object) }
        guard let relationship = relationship(at: slot) else { return }
        let old = memberObjects(at: slot)
        let start = zip(objects, old).prefix { $0 === $1 }.count
        let end = zip(objects[start...].reversed(), old[start...].reversed()).prefix { $0 === $1 }.count
        replaceMembers(old[start..<(old.count - end)], by: objects[start..<(objects.count - end)], of: relationship)
        if relationship.isOrdered { order(objects, of: relationship) }
    }

    /// Removes members that are not among the new members, and adds new members.
    func replaceMembers(
        _ old: ArraySlice<any GraphObject>,
        by new: ArraySlice<any GraphObject>,
        of relationship: Relationship
    ) {
        if old.isEmpty, new.isEmpty { return }
        if !old.isEmpty {
            let newIdentities = Set(new.map { ObjectIdentifier($0) })
            for object in old where !newIdentities.contains(ObjectIdentifier(object)) {
                remove(object, from: relationship)
            }
        }
        let members = members(of: relationship)
        for object in new where !members.contains(object.state.pointee.key) { add(object, to: relationship) }
    }

    /// Adds an object to a to-many relationship, at the end if it is ordered, and updates the inverse. An object that
    /// is already a member keeps its position.
    ///
    /// - Complexity: O(1), independent of the number of members; the members of a saved object are not read.
    public func addMember(_ object: any GraphObject, at slot: Int) {
        completeInitialization()
        joinGraph(of: object)
        guard let relationship = relationship(at: slot) else { return }
        loadIfOrdered(relationship)
        let isListed =
            if let inverse = relationship.inverse, !inverse.isToMany {
                object.destinationKey(at: inverse.slot) == state.pointee.key
            } else {
                members(of: relationship).contains(object.state.pointee.key)
                    || object.isKnownMember(of: self, along: relationship)
            }
        if !isListed { add(object, to: relationship) }
    }

    /// Whether the inverse of a many-to-many relationship shows that the object is a member of an owner whose members
    /// are not loaded. Otherwise only one side of the relationship would change, and an undo of the change would not be
    /// saved.
    private func isKnownMember(of owner: any GraphObject, along relationship: Relationship) -> Bool {
        guard let inverse = relationship.inverse, inverse.isToMany, !owner.members(of: relationship).isLoaded,
            let members = state.pointee.changes?.members(at: inverse.slot)
        else { return false }
        return members.isLoaded && members.contains(owner.state.pointee.key)
    }

    /// Removes an object from a to-many relationship, and updates the inverse. Does nothing if the object is not a
    /// member.
    ///
    /// - Complexity: O(1); the first call reads the members.
    public func removeMember(_ object: any GraphObject, at slot: Int) {
        completeInitialization()
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

    // An observer that is called before a change can save. New objects then have other keys, and the saved members are
    // no longer the members of the new object.

    /// - Parameter key: The key of the member, read after observers are called.
    func addMember(_ key: @autoclosure () -> Int64, to relationship: Relationship) {
        recorder?.willChangeOrder(of: self, relationship, members(of: relationship))
        changing(relationship.slot) {
            let key = key()
            guard members(of: relationship).add(key) else { return }
            recorder?.didAdd(key, to: self, relationship)
            noteChange()
        }
    }

    /// - Parameter key: The key of the member, read after observers are called.
    func removeMember(_ key: @autoclosure () -> Int64, from relationship: Relationship) {
        removing(key(), from: relationship) { $0.remove($1, isPair: relationship.isStoredAsPairs) }
    }

    /// Reverts the addition of a member since the last save.
    ///
    /// - Parameter key: The key of the member, read after observers are called.
    func revertAddition(of key: @autoclosure () -> Int64, to relationship: Relationship) {
        removing(key(), from: relationship) { $0.revertAddition(of: $1) }
    }

    @inline(__always)
    private func removing(
        _ key: @autoclosure () -> Int64,
        from relationship: Relationship,
        _ remove: (ToManyMembers, Int64) -> ToManyMembers.Removal?
    ) {
        if let recorder {
            let members = members(of: relationship)
            // An undo requires the position of the member.
            if relationship.isOrdered, !members.isLoaded {
                state.pointee.handler?.context?.loader.loadMembers(of: relationship, for: self)
            }
            recorder.willChangeOrder(of: self, relationship, members)
        }
        changing(relationship.slot) {
            let key = key()
            let members = members(of: relationship)
            let removal = removingFromRecentMembers(key, members, of: relationship) { remove(members, key) }
            guard let removal else { return }
            recorder?.didRemove(key, from: self, relationship, removal)
            noteChange()
        }
    }

    // MARK: Order

    /// Gives the members of an ordered relationship the order of the objects, which are the members.
    private func order(_ objects: [any GraphObject], of relationship: Relationship) {
        let members = members(of: relationship)
        if members.keys.elementsEqual(objects.lazy.map { $0.state.pointee.key }) { return }
        func keys() -> [Int64] {
            var seen: Set<Int64> = []
            return objects.map { $0.state.pointee.key }.filter { seen.insert($0).inserted }
        }
        if members.keys.elementsEqual(keys()) { return }
        recorder?.willChangeOrder(of: self, relationship, members)
        changing(relationship.slot) {
            self.members(of: relationship).reorder(keys())
            noteChange()
        }
    }

    /// Changes the order of the members of an ordered relationship. Members that the order does not contain follow.
    ///
    /// - Parameter storedAt: The ``ToManyMembers/storedOrder`` of the members before the change; nil if the store had
    ///   another order.
    func restoreOrder(_ order: [Int64], of relationship: Relationship, storedAt: UInt32?) {
        let members = members(of: relationship)
        if !members.isLoaded { state.pointee.handler?.context?.loader.loadMembers(of: relationship, for: self) }
        recorder?.willChangeOrder(of: self, relationship, members)
        changing(relationship.slot) {
            members.restoreOrder(order, storedAt: storedAt)
            noteChange()
        }
    }
}

extension Relationship {
    /// Whether the relationship is stored in a join table.
    var isStoredAsPairs: Bool { if case .joinTable = placement { true } else { false } }
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
    /// Fills added members that another process may have deleted. The store has the other members.
    fileprivate func verifyAdded(_ loaded: LoadedMembers) {
        guard identityMap.mayHaveUnverifiedFaults, loaded.members.isChanged else { return }
        verifyExistence(of: loaded.members.added, loaded.relationship.destination)
    }

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
