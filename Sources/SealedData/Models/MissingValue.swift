import Foundation

/// What a property that is not optional answers when its object has no value for it: because the row has vanished before
/// it was read, or somebody else has written something that is no value of the type.
///
/// Reading an object never ends the process for what a store holds, so some value has to be found.
@usableFromInline
enum MissingValue {
    /// Some value of a type: nil, the empty or zero one, or the first case.
    @usableFromInline
    static func substitute<V>() -> V {
        if let none = Optional<Any>.none as? V { return none }
        if let cases = V.self as? any CaseIterable.Type, let first = firstCase(of: cases) as? V { return first }
        if let decodable = V.self as? any Decodable.Type {
            for text in ["{}", "[]", "\"\"", "0", "false"] {
                if let value = try? JSONDecoder().decode(decodable, from: Data(text.utf8)), let value = value as? V {
                    return value
                }
            }
        }
        // All bits zero is the first case of an enum without payloads, and zero in every member of a struct of numbers.
        precondition(
            _isPOD(V.self),
            "a property of type \(V.self) has no value: make it optional, or give the type an initializer from empty JSON"
        )
        return withUnsafeTemporaryAllocation(of: V.self, capacity: 1) { buffer in
            UnsafeMutableRawBufferPointer(buffer).initializeMemory(as: UInt8.self, repeating: 0)
            return buffer[0]
        }
    }

    private static func firstCase<C: CaseIterable>(of type: C.Type) -> Any? { type.allCases.first }
}
