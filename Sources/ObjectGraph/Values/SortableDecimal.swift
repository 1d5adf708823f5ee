import Foundation

/// Decimal numbers as bytes that compare, byte by byte, as the numbers do.
///
/// The first byte tells the sign: 0 NaN, 1 negative, 2 zero, 3 positive. Of a number other than zero the exponent of
/// its first digit follows (two bytes, big endian, biased by 32768), then its digits without zeros at the end, two to a
/// byte, each pair as 1 to 100 so that 0 can end the list. All bytes after the sign are inverted in a negative number.
/// Equal numbers have equal bytes.
enum SortableDecimal {
    private enum Sign: UInt8 {
        case notANumber, negative, zero, positive
    }

    static func encode(_ decimal: Decimal) -> Data {
        if decimal.isNaN { return Data([Sign.notANumber.rawValue]) }
        if decimal.isZero { return Data([Sign.zero.rawValue]) }
        // `description` is exact and free of the locale: an optional sign, digits, at most one point.
        let text = decimal.magnitude.description.utf8
        let point = text.firstIndex(of: UInt8(ascii: "."))
        let wholeCount = text.distance(from: text.startIndex, to: point ?? text.endIndex)
        var digits = text.filter { $0 != UInt8(ascii: ".") }.map { $0 - UInt8(ascii: "0") }
        let leadingZeros = digits.prefix { $0 == 0 }.count
        digits.removeFirst(leadingZeros)
        while digits.last == 0 { digits.removeLast() }

        let isNegative = decimal.sign == .minus
        let exponent = UInt16(wholeCount - leadingZeros + 32768)
        var bytes = [UInt8(exponent >> 8), UInt8(exponent & 0xFF)]
        for start in stride(from: 0, to: digits.count, by: 2) {
            let second = start + 1 < digits.count ? digits[start + 1] : 0
            bytes.append(digits[start] * 10 + second + 1)
        }
        bytes.append(0)
        if isNegative { bytes = bytes.map { ~$0 } }
        return Data([isNegative ? Sign.negative.rawValue : Sign.positive.rawValue] + bytes)
    }

    /// The number, or nil where the bytes are none.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> Decimal? {
        guard let first = bytes.first, let sign = Sign(rawValue: first) else { return nil }
        switch sign {
        case .notANumber: return bytes.count == 1 ? Decimal.nan : nil
        case .zero: return bytes.count == 1 ? Decimal(0) : nil
        case .negative, .positive: break
        }
        let body = bytes.dropFirst().map { sign == .negative ? ~$0 : $0 }
        guard body.count >= 4, body.last == 0 else { return nil }
        let exponent = Int(body[0]) << 8 + Int(body[1]) - 32768
        var digits: [UInt8] = []
        for pair in body[2..<(body.count - 1)] {
            guard (1...100).contains(pair) else { return nil }
            digits += [(pair - 1) / 10, (pair - 1) % 10]
        }
        if digits.last == 0 { digits.removeLast() }
        let text = String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
        let scale = exponent - digits.count
        guard (-256...256).contains(scale) else { return nil }
        return Decimal(
            string: (sign == .negative ? "-" : "") + text + "e\(scale)",
            locale: Locale(identifier: "en_US_POSIX")
        )
    }
}
