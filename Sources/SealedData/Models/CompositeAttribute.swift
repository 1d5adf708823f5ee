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
        let plain = JSONEncoder()
        plain.outputFormatting = JSONEncoder.compositeFormatting
        do {
            return String(decoding: try plain.encode(value), as: UTF8.self)
        } catch EncodingError.invalidValue(let number, let context) {
            let encoder = JSONEncoder.forCompositeValues()
            let text = String(decoding: try encoder.encode(value), as: UTF8.self)
            // A type that decodes texts and numbers may have decoded the text as a different value.
            guard let copy = Self.read((nil, text)), try Self.nonFiniteCounts(copy) == Self.nonFiniteCounts(value)
            else {
                throw EncodingError.invalidValue(number, context)
            }
            return text
        }
    }

    /// The numbers of infinities, negative infinities and NaNs in a value.
    private static func nonFiniteCounts(_ value: Value) throws -> [Int] {
        // Texts that the value does not contain.
        let marks = (0..<3).map { _ in UUID().uuidString }
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: marks[0],
            negativeInfinity: marks[1],
            nan: marks[2]
        )
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        return marks.map { text.components(separatedBy: $0).count - 1 }
    }

    /// Decodes the value of an object; nil if the object has no value, or its text does not decode as the type.
    static func read(_ stored: (value: (any CompositeValue)?, text: String?)) -> Value? {
        if let composite = stored.value as? any AnyValueHolder { return composite.anyValue as? Value }
        guard let text = stored.text else { return nil }
        let decoder = JSONDecoder()
        let data = Data(text.utf8)
        if let value = try? decoder.decode(Value.self, from: data) { return value }
        // Only if decoding fails otherwise: a type whose values can be numbers or texts keeps its texts "inf" and
        // "nan".
        decoder.convertNonFiniteNumbers()
        return try? decoder.decode(Value.self, from: data)
    }
}

/// A box around a value whose type the reader does not need to know: a `T` that was set can also be read as a `T?`.
protocol AnyValueHolder {
    var anyValue: Any { get }
}
