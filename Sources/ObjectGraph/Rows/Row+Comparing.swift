extension Row {
    /// The value in a slot; null if the row has no such slot.
    func valueOrNull(at slot: Int) -> Value { slot < slotCount ? value(at: slot) : .null }

    /// The value in a slot, read from the store if it is deferred; nil if it was not read, or cannot be read.
    func readValue(at slot: Int) -> Value? {
        guard hasValue(at: slot) else { return nil }
        guard tag(at: slot) == .deferredBlob else { return value(at: slot) }
        return (try? readBlob(at: slot)).map(Value.blob)
    }

    /// Whether a slot has the value `value`, bit for bit.
    package func holds(_ value: Value, at slot: Int) -> Bool {
        guard slot < slotCount else { return value.isNull }
        switch (value, tag(at: slot)) {
        case (.null, .null): return true
        case (.integer(let integer), .integer): return integer == self.integer(at: slot)
        case (.real(let real), .real): return real.bitPattern == self.real(at: slot).bitPattern
        case (.text(var text), .text):
            return withBytes(at: slot) { bytes in text.withUTF8 { $0.elementsEqual(bytes) } }
        case (.blob(let data), .blob): return withBytes(at: slot) { data.elementsEqual($0) }
        case (.blob(let data), .deferredBlob): return (try? readBlob(at: slot)) == data
        case (.uuid(let uuid), .blob): return uuid == self.uuid(at: slot)
        default: return false
        }
    }

    /// Whether all values that the row has read equal the values of another row. Large values that one of the rows has
    /// left in the store count as equal if the versions of the rows are equal.
    func hasValues(of other: Row) -> Bool {
        (0..<slotCount).allSatisfy { slot in
            switch (tag(at: slot), slot < other.slotCount ? other.tag(at: slot) : .null) {
            case (.omitted, _): true
            case (.deferredBlob, .deferredBlob), (.deferredBlob, .blob), (.blob, .deferredBlob):
                version == other.version
            default: !differs(from: other, at: slot)
            }
        }
    }

    /// Whether a slot differs from the same slot of another row, if both rows have read it.
    func differs(from other: Row, at slot: Int) -> Bool {
        guard slot < slotCount, slot < other.slotCount else {
            return valueOrNull(at: slot) != other.valueOrNull(at: slot)
        }
        if tag(at: slot) == .deferredBlob || other.tag(at: slot) == .deferredBlob { return true }
        return !holds(other.value(at: slot), at: slot)
    }
}
