// The rows of the saved objects.

extension SavePreparation {
    /// The slots of attributes and to-one relationships whose values differ from the values of the row; nil if none
    /// differs.
    ///
    /// - Parameter cleared: Slots that the save clears.
    func changedSlots(of state: UnsafeMutablePointer<ObjectState>, _ cleared: SlotSet) -> SlotSet? {
        let changed = state.borrowedChanges?._withUnsafeGuaranteedRef { changes in
            var changed = cleared
            let slots = changes.slots
            for slot in 0..<changes.slotCount {
                switch slots[slot] {
                case .unset, .members, .pending: continue
                case .composite: changed.insert(slot)
                case .value(let value):
                    if state.borrowedRow({ $0.holds(value, at: slot) }) ?? false { continue }
                    changed.insert(slot)
                }
            }
            return changed
        }
        let all = changed ?? cleared
        return all.isEmpty ? nil : all
    }

    /// Writes the row of a saved object.
    ///
    /// - Parameter cleared: Slots whose values in the row are dropped.
    mutating func encode(
        _ state: UnsafeMutablePointer<ObjectState>,
        _ part: Part,
        key: Int64,
        version: UInt32,
        clearing cleared: SlotSet = SlotSet(),
        into rows: inout RowBatchBuilder
    ) {
        // Encoding a value may run code of the program, which may replace the object's row and changes.
        let held = part.hasComposites ? (state.pointee.row, state.pointee.changes) : (nil, nil)
        rows.begin(key: key, version: version, entity: part.entityIndex, slotCount: part.traits.count)
        if let chunk = state.borrowedChunk {
            chunk._withUnsafeGuaranteedRef { chunk in
                let row = Row(chunk: chunk, offset: state.pointee.rowOffset)
                encodeSlots(state, part, into: &rows) { slot, rows in
                    guard slot < row.slotCount, !row.isNull(at: slot), !cleared.contains(slot) else { return false }
                    rows.copy(slot, of: row)
                    return true
                }
            }
        } else {
            encodeSlots(state, part, into: &rows) { _, _ in false }
        }
        withExtendedLifetime(held) {}
        if let slot = rows.takeOverlongSlot() { report(state, slot, .rowTooLong) }
    }

    /// Writes the values of an object's slots.
    ///
    /// - Parameter copy: Copies the value of a slot from the object's row, or returns false if the object has no row.
    @inline(__always)
    private mutating func encodeSlots(
        _ state: UnsafeMutablePointer<ObjectState>,
        _ part: Part,
        into rows: inout RowBatchBuilder,
        _ copy: (Int, inout RowBatchBuilder) -> Bool
    ) {
        let slots = state.borrowedChanges?._withUnsafeGuaranteedRef { $0.slots }
        let traits = part.traits
        for slot in 0..<traits.count {
            let isChecked = traits[slot].isValidated || traits[slot].isRestricted && part.takesStoredValues
            if let integer = slots?[slot].integer, traits[slot].destinationIndex < 0, !isChecked {
                rows.set(integer: integer, at: slot)
                continue
            }
            switch slots?[slot] ?? .unset {
            case .value(let value):
                encode(value, at: slot, traits[slot], isChecked: isChecked, state, part.entity, into: &rows)
            case .composite(let value):
                do {
                    var text = try value.encodedText()
                    text.withUTF8 { rows.set(text: UnsafeRawBufferPointer($0), at: slot) }
                } catch {
                    report(state, slot, .init(ofEncoding: error))
                }
            case .unset, .members, .pending:
                if copy(slot, &rows) { continue }
                if state.pointee.flags.contains(.hasUnreadValues) || !traits[slot].isOptional {
                    reportUnset(state, slot, traits[slot], part.entity)
                }
            }
        }
    }

    @inline(never)
    private mutating func reportUnset(
        _ state: UnsafeMutablePointer<ObjectState>,
        _ slot: Int,
        _ traits: SlotTraits,
        _ entity: Entity
    ) {
        if state.pointee.flags.contains(.hasUnreadValues), case .attribute = entity.properties[slot] {
            report(state, slot, .unread)
        } else if !traits.isOptional {
            report(state, slot, .missingValue)
        }
    }

    @inline(__always)
    private mutating func encode(
        _ value: Value,
        at slot: Int,
        _ traits: SlotTraits,
        isChecked: Bool,
        _ state: UnsafeMutablePointer<ObjectState>,
        _ entity: Entity,
        into rows: inout RowBatchBuilder
    ) {
        switch value {
        case .null:
            if !traits.isOptional { report(state, slot, .missingValue) }
        case .integer(let key) where traits.destinationIndex >= 0:
            let destination = identityMap.model.entities[traits.destinationIndex]
            let permanent = identityMap.permanentKey(for: key, of: destination)
            if permanent != 0 {
                rows.set(integer: permanent, at: slot)
            } else if isLost(key, of: destination), !traits.isOptional || mergePolicy == .error {
                report(state, slot, .missingDestination)
            } else if !traits.isOptional {
                report(state, slot, .missingValue)
            }
        case .real(let real) where real.isNaN:
            // SQLite stores NaN as NULL.
            report(state, slot, .notRepresentable)
        default:
            if isChecked { validate(value, at: slot, state, entity) }
            rows.set(value, at: slot)
        }
    }

    @inline(never)
    private mutating func validate(
        _ value: Value,
        at slot: Int,
        _ state: UnsafeMutablePointer<ObjectState>,
        _ entity: Entity
    ) {
        if let problem = entity.properties[slot].problem(of: value) { report(state, slot, problem) }
    }

    /// Whether the context knows that another context or process has deleted the object with a key. The reference is
    /// then not passed to the store.
    func isLost(_ key: Int64, of entity: Entity) -> Bool {
        guard key > 0, loader.stores.parent == nil, let object = identityMap.object(forKey: key, of: entity) else {
            return false
        }
        return object.life.isLost
    }

    mutating func report(
        _ state: UnsafeMutablePointer<ObjectState>,
        _ slot: Int,
        _ reason: ObjectGraphError.ValidationProblem.Reason
    ) {
        guard let handler = state.pointee.handler else { return }
        let key = state.pointee.key
        let id = ManagedObjectID(entity: handler.entity, storeUUID: key > 0 ? handler.storeUUID : nil, key: key)
        problems.append(.init(id: id, property: handler.entity.properties[slot].name, reason: reason))
    }
}
