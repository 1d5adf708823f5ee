import Foundation
import Guarded

/// A value of each type that refuses all values that ``MissingValue`` makes up: the last one that the process has decoded or
/// encoded, as its JSON text. Of other types nothing is kept.
final class SeenValues: Sendable {
    static let shared = SeenValues()

    private enum Entry {
        /// Values of the type can be made.
        case unneeded
        case text(String)
    }

    private let entries = Guarded<[ObjectIdentifier: Entry]>([:])

    /// Notes a value that was decoded from a text, or encoded as it.
    ///
    /// - Complexity: a lookup; the first time for a type, it tries to make a value.
    func note<Value: Codable>(_ type: Value.Type, text: String) {
        let key = ObjectIdentifier(type)
        let isKnown = entries.withLock { entries in
            switch entries[key] {
            case nil: return false
            case .unneeded: return true
            case .text:
                entries[key] = .text(text)
                return true
            }
        }
        guard !isKnown else { return }
        // Outside the lock: this runs code of the program.
        let isUnneeded = Optional<Any>.none is Value || MissingValue.make(type) != nil
        entries.withLock { $0[key] = isUnneeded ? .unneeded : .text(text) }
    }

    /// A copy of the value that was seen last; nil if none was seen.
    func value<Value>(of type: Value.Type) -> Value? {
        guard let decodable = type as? any Decodable.Type,
            case .text(let text) = entries.withLock({ $0[ObjectIdentifier(type)] })
        else { return nil }
        return (try? JSONDecoder().decode(decodable, from: Data(text.utf8))) as? Value
    }
}
