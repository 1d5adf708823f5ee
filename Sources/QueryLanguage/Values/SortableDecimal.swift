public import Foundation

/// Decimal numbers as bytes that have the same order as the numbers.
///
/// The first byte is the sign: 0 NaN, 1 negative, 2 zero, 3 positive. For a number other than zero, the exponent of its
/// first digit follows (two bytes, big endian, biased by 32768), then its digits without trailing zeros, two in each
/// byte, each pair as 1 to 100 so that 0 can end the list. All bytes after the sign are inverted in a negative number.
/// Equal numbers have equal bytes.
@usableFromInline
package enum SortableDecimal {
    private enum Sign: UInt8 {
        case notANumber, negative, zero, positive
    }

    static func encode(_ decimal: Decimal) -> Data {
        if decimal.isNaN { return Data([Sign.notANumber.rawValue]) }
        if decimal.isZero { return Data([Sign.zero.rawValue]) }
        // `description` is exact and independent of the locale: an optional sign, digits, at most one point.
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

    /// The decoded bytes of a number.
    enum Parts {
        case notANumber
        case zero
        /// A number 0.d₁d₂d₃… · 10 to the power of `exponent`, with its digits in pairs from 0 to 99; the first digit
        /// is not 0.
        case digits(isNegative: Bool, exponent: Int, pairs: [UInt8])

        /// - Returns: nil if the bytes are not a number.
        init?(_ bytes: UnsafeRawBufferPointer) {
            guard let first = bytes.first, let sign = Sign(rawValue: first) else { return nil }
            switch sign {
            case .notANumber, .zero:
                guard bytes.count == 1 else { return nil }
                self = sign == .zero ? .zero : .notANumber
            case .negative, .positive:
                let body = bytes.dropFirst().map { sign == .negative ? ~$0 : $0 }
                guard body.count >= 4, body.last == 0 else { return nil }
                let pairs = body[2..<(body.count - 1)]
                guard pairs.allSatisfy({ $0 >= 1 && $0 <= 100 }) else { return nil }
                self = .digits(
                    isNegative: sign == .negative,
                    exponent: Int(body[0]) << 8 + Int(body[1]) - 32768,
                    pairs: pairs.map { $0 - 1 }
                )
            }
        }
    }

    /// Returns the number, or nil if the bytes are not a number.
    @usableFromInline
    static func decode(_ bytes: UnsafeRawBufferPointer) -> Decimal? {
        let (isNegative, exponent, pairs): (Bool, Int, [UInt8])
        switch Parts(bytes) {
        case nil: return nil
        case .notANumber: return .nan
        case .zero: return 0
        case .digits(let negative, let power, let digits): (isNegative, exponent, pairs) = (negative, power, digits)
        }
        let digits = pairs.flatMap { [$0 / 10, $0 % 10] }
        return decimal(isNegative: isNegative, digits: digits, power: exponent - digits.count)
    }

    /// The largest power of ten of a number's last digit.
    private static let largestPower = 127

    /// More digits than a `Decimal` has between its largest and its smallest power of ten: bytes with so many are not a
    /// number.
    private static let mostDigits = 512

    /// Returns the number of these digits, the last of which has the given power of ten; nil if no `Decimal` is near
    /// it.
    package static func decimal(isNegative: Bool, digits: some BidirectionalCollection<UInt8>, power: Int) -> Decimal? {
        var digits = Array(digits)
        var power = power
        while digits.last == 0 {
            digits.removeLast()
            power += 1
        }
        guard (-256...256).contains(power), digits.count <= mostDigits else { return nil }
        // Decimal reads the text of a large number only with trailing zeros.
        while power > largestPower {
            digits.append(0)
            power -= 1
        }
        let text = String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
        return Decimal(string: (isNegative ? "-" : "") + text + "e\(power)", locale: Locale(identifier: "en_US_POSIX"))
    }
}
