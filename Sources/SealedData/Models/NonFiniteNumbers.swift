import Foundation
import ObjectGraph

// JSON has no numbers that are not finite. Stored values and snapshots contain texts instead, which ``JSONText`` reads
// as numbers in predicates.

extension JSONEncoder {
    /// Makes the encoder write infinities and NaN as texts instead of throwing.
    func convertNonFiniteNumbers() {
        nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: JSONText.infinity,
            negativeInfinity: JSONText.negativeInfinity,
            nan: JSONText.notANumber
        )
    }
}

extension JSONDecoder {
    /// Makes the decoder read the texts that stand for infinities and NaN as numbers, where a number is decoded.
    func convertNonFiniteNumbers() {
        nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: JSONText.infinity,
            negativeInfinity: JSONText.negativeInfinity,
            nan: JSONText.notANumber
        )
    }
}
