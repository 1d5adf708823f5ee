package import Foundation

// JSON has no numbers that are not finite. Stored values and snapshots contain texts instead, which ``JSONText`` reads
// as numbers in predicates.

extension JSONEncoder {
    /// The form of the text of composite values. Sorted keys give equal values equal text.
    package static var compositeFormatting: OutputFormatting { [.sortedKeys, .withoutEscapingSlashes] }

    /// Returns an encoder for the text of composite values.
    package static func forCompositeValues() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = compositeFormatting
        encoder.convertNonFiniteNumbers()
        return encoder
    }

    /// Makes the encoder write infinities and NaN as texts instead of throwing.
    package func convertNonFiniteNumbers() {
        nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: JSONText.infinity,
            negativeInfinity: JSONText.negativeInfinity,
            nan: JSONText.notANumber
        )
    }
}

extension JSONDecoder {
    /// Makes the decoder read the texts that stand for infinities and NaN as numbers, where a number is decoded.
    package func convertNonFiniteNumbers() {
        nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: JSONText.infinity,
            negativeInfinity: JSONText.negativeInfinity,
            nan: JSONText.notANumber
        )
    }
}
