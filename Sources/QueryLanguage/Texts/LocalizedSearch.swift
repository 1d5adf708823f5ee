import Foundation

/// Searches texts for a text as `localizedStandardContains(_:)` does: in the current locale, regardless of case and
/// diacritics.
///
/// Foundation's search takes more than a microsecond. For two texts of ASCII characters, a search by bytes in lower
/// case has the same result, except in locales with other pairs of letters, such as Turkish, and for the zero
/// character, which Foundation also finds at the end of a text.
package final class LocalizedSearch: Sendable {
    private let part: String
    /// The bytes of the text in lower case; nil if a search by bytes may have another result.
    private let bytes: [UInt8]?

    /// Creates a search for a text.
    package init(_ part: String) {
        self.part = part
        let isASCII = !part.isEmpty && part.utf8.allSatisfy { (1..<0x80).contains($0) }
        bytes = isASCII && "I".localizedStandardContains("i") ? part.utf8.map(Self.lowercase) : nil
    }

    /// Returns whether a text, in UTF-8, contains the searched text. No text contains the empty text.
    ///
    /// Complexity: O(*n* · *m*) with the lengths of both texts.
    package func isFound(in text: UnsafeRawBufferPointer) -> Bool {
        guard let bytes, Self.isASCII(text) else {
            return String(decoding: text, as: UTF8.self).localizedStandardContains(part)
        }
        return bytes.withUnsafeBufferPointer { Self.contains(text, $0) }
    }

    private static func contains(_ text: UnsafeRawBufferPointer, _ part: UnsafeBufferPointer<UInt8>) -> Bool {
        let first = part[0]
        // The bit in which the cases of a letter differ.
        let mask: UInt8 = (0x61...0x7A).contains(first) ? 0x20 : 0
        var start = 0
        while start + part.count <= text.count {
            if text[start] | mask == first {
                var length = 1
                while length < part.count, lowercase(text[start + length]) == part[length] { length += 1 }
                if length == part.count { return true }
            }
            start += 1
        }
        return false
    }

    private static func isASCII(_ text: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position + 8 <= text.count {
            let word = text.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            if word & 0x8080_8080_8080_8080 != 0 { return false }
            position += 8
        }
        while position < text.count {
            if text[position] >= 0x80 { return false }
            position += 1
        }
        return true
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
