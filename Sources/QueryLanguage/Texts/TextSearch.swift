import Foundation

/// Searches texts as Swift does: by characters, which are equal if they are canonically equivalent. For most texts a
/// comparison of bytes has the same result and is a hundred times as fast.
package enum TextSearch {
    /// Returns whether a text contains the characters of another text consecutively.
    package static func contains(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
        if part.isEmpty { return true }
        guard isSimple(text), isSimple(part) else { return containsElements(String(utf8: text), String(utf8: part)) }
        return containsBytes(text, part)
    }

    /// The method of `Collection`. The method of `StringProtocol` also finds parts of characters.
    private static func containsElements<Whole: Collection, Part: Collection>(_ whole: Whole, _ part: Part) -> Bool
    where Whole.Element: Equatable, Whole.Element == Part.Element {
        whole.contains(part)
    }

    private static func containsBytes(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
        var start = 0
        while start + part.count <= text.count {
            let rest = text.count - part.count - start + 1
            guard let found = memchr(text.baseAddress! + start, Int32(part[0]), rest) else { return false }
            if memcmp(found, part.baseAddress!, part.count) == 0 { return true }
            start = UnsafeRawPointer(found) - text.baseAddress! + 1
        }
        return false
    }

    /// Returns whether a text starts with the characters of another text.
    package static func starts(_ text: UnsafeRawBufferPointer, with part: UnsafeRawBufferPointer) -> Bool {
        guard isSimple(text), isSimple(part) else { return String(utf8: text).starts(with: String(utf8: part)) }
        guard text.count >= part.count else { return false }
        return part.isEmpty || memcmp(text.baseAddress!, part.baseAddress!, part.count) == 0
    }

    /// Returns whether a text ends with the characters of another text.
    package static func ends(_ text: UnsafeRawBufferPointer, with part: UnsafeRawBufferPointer) -> Bool {
        guard isSimple(text), isSimple(part) else {
            return String(utf8: text).reversed().starts(with: String(utf8: part).reversed())
        }
        guard text.count >= part.count else { return false }
        return part.isEmpty || memcmp(text.baseAddress! + (text.count - part.count), part.baseAddress!, part.count) == 0
    }

    static func contains(_ text: String, _ part: String) -> Bool { with(text, part) { contains($0, $1) } }
    static func starts(_ text: String, with part: String) -> Bool { with(text, part) { starts($0, with: $1) } }
    static func ends(_ text: String, with part: String) -> Bool { with(text, part) { ends($0, with: $1) } }

    private static func with(
        _ text: String,
        _ part: String,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        var (text, part) = (text, part)
        return text.withUTF8 { text in
            part.withUTF8 { body(UnsafeRawBufferPointer(text), UnsafeRawBufferPointer($0)) }
        }
    }

    // MARK: Simple texts

    /// Returns whether a text is in normalization form C and each of its scalars is one character, decided without
    /// Unicode's tables: ASCII, Latin letters, kana, Chinese characters and Hangul syllables are. For two such texts,
    /// equality, order and search by bytes and by characters agree.
    ///
    /// A text with a carriage return is not simple, since it is one character with a following line feed.
    package static func isSimple(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        let count = bytes.count
        while position < count {
            if position + 8 <= count {
                let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                if word & 0x8080_8080_8080_8080 == 0, !hasCarriageReturn(word) {
                    position += 8
                    continue
                }
            }
            let lead = bytes[position]
            if lead < 0x80 {
                if lead == 0x0D { return false }
                position += 1
                continue
            }
            guard let length = lengthOfSimpleScalar(lead, bytes, position) else { return false }
            position += length
        }
        return true
    }

    private static func hasCarriageReturn(_ word: UInt64) -> Bool {
        let difference = word ^ 0x0D0D_0D0D_0D0D_0D0D
        return (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080 != 0
    }

    /// Returns the number of bytes of a simple scalar beyond ASCII; nil for other scalars.
    private static func lengthOfSimpleScalar(
        _ lead: UInt8,
        _ bytes: UnsafeRawBufferPointer,
        _ position: Int
    ) -> Int? {
        // U+0080 … U+02FF: the scalars before the combining marks.
        if (0xC2...0xCB).contains(lead) { return position + 2 <= bytes.count ? 2 : nil }
        guard lead >= 0xE3, position + 3 <= bytes.count else { return nil }
        let second = bytes[position + 1]
        let third = bytes[position + 2]
        let isSimple =
            switch lead {
            // U+3000 … U+30FF without the combining marks; U+3400 … U+3FFF.
            case 0xE3:
                switch second {
                case 0x80: third < 0xAA
                case 0x81: true
                case 0x82: third != 0x99 && third != 0x9A
                case 0x83, 0x90...: true
                default: false
                }
            // U+4000 … U+9FFF.
            case 0xE4...0xE9: true
            // U+AC00 … U+D7A3.
            case 0xEA: second >= 0xB0
            case 0xEB, 0xEC: true
            case 0xED: second < 0x9E || second == 0x9E && third <= 0xA3
            // U+FF01 … U+FF5E, the wide forms.
            case 0xEF: second == 0xBC || second == 0xBD && third <= 0x9E
            default: false
            }
        return isSimple ? 3 : nil
    }
}

extension String {
    fileprivate init(utf8 bytes: UnsafeRawBufferPointer) {
        self.init(decoding: bytes, as: UTF8.self)
    }
}
