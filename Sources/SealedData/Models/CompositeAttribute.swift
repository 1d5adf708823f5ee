import Foundation
import ObjectGraph

/// The value of an attribute that is stored as JSON text: any `Codable` type without a column type.
final class CompositeAttribute<Value: Codable>: CompositeValue, AnyValueHolder {
    private let value: Value

    var anyValue: Any { value }

    init(_ value: Value) {
        self.value = value
    }

    func encodedText() throws -> String {
        let encoder = JSONEncoder()
        // Sorted keys give equal values equal text.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Decodes the value of an object; nil if the object has no value, or its text does not decode as the type.
    static func read(_ stored: (value: (any CompositeValue)?, text: String?)) -> Value? {
        if let composite = stored.value as? any AnyValueHolder { return composite.anyValue as? Value }
        return stored.text.flatMap { try? JSONDecoder().decode(Value.self, from: Data($0.utf8)) }
    }
}

/// A box around a value whose type the reader does not need to know: a `T` that was set can also be read as a `T?`.
private protocol AnyValueHolder {
    var anyValue: Any { get }
}
