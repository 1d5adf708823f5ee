package import Foundation

/// The exact sum of decimal numbers of any magnitudes, in any order.
///
/// A decimal number has its digits between 10⁻¹²⁸ and 10¹⁶⁶. The sum has a position for each digit: it consists of
/// limbs of nine digits, in which carries are propagated at the end.
package struct DecimalSum {
    private static let digitsPerLimb = 9
    private static let base: Int64 = 1_000_000_000
    /// The power of ten of the first limb's last digit, which is below the power of any number's digit.
    private static let lowestPower = -135
    /// The largest exponent of a number, see ``SortableDecimal/Parts``.
    private static let highestExponent = 166
    /// Space for the numbers, and for the carries of any count of numbers.
    private static let limbCount = 36
    /// The number of additions before carries must be propagated: each adds less than 2 · 10¹⁰ to a limb.
    private static let additionsBetweenCarries = 1 << 26

    private var limbs = [Int64](repeating: 0, count: Self.limbCount)
    private var additions = 0
    private var isNotANumber = false
    /// The number of added numbers.
    package private(set) var count = 0

    /// Creates the sum of no numbers.
    package init() {}

    /// Adds a number in its stored form.
    ///
    /// - Returns: Whether the bytes are a number.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let parts = SortableDecimal.Parts(bytes) else { return false }
        count += 1
        switch parts {
        case .notANumber: isNotANumber = true
        case .zero: break
        case .digits(let isNegative, let exponent, let pairs):
            guard exponent <= Self.highestExponent, exponent - 2 * pairs.count > Self.lowestPower else { return false }
            var power = exponent - 2 - Self.lowestPower
            for pair in pairs {
                let value = Int64(pair) * Self.powersOfTen[power % Self.digitsPerLimb]
                limbs[power / Self.digitsPerLimb] += isNegative ? -value : value
                power -= 2
            }
            additions += 1
            if additions == Self.additionsBetweenCarries { carry() }
        }
        return true
    }

    private static let powersOfTen: [Int64] = (0..<digitsPerLimb).map { power in
        (0..<power).reduce(1) { product, _ in product * 10 }
    }

    /// Propagates carries: all limbs but the last are between 0 and the base afterwards.
    private mutating func carry() {
        for index in 0..<(Self.limbCount - 1) {
            let (quotient, remainder) = limbs[index].quotientAndRemainder(dividingBy: Self.base)
            let borrow: Int64 = remainder < 0 ? 1 : 0
            limbs[index] = remainder + borrow * Self.base
            limbs[index + 1] += quotient - borrow
        }
        additions = 0
    }

    // MARK: Results

    /// The sum in its stored form; nil if it has more digits than a decimal number can have.
    package var sum: Data? {
        if isNotANumber { return SortableDecimal.encode(.nan) }
        let (isNegative, digits) = magnitude
        return Self.encode(isNegative, digits, lowestPower: Self.lowestPower, isRounded: false)
    }

    /// The average in its stored form, rounded to 38 digits; nil for no numbers, and if it is too large.
    package var average: Data? {
        if isNotANumber { return SortableDecimal.encode(.nan) }
        guard count > 0 else { return nil }
        let (isNegative, digits) = magnitude
        var remainder = 0
        var quotient: [UInt8] = []
        var power = Self.lowestPower
        // Digits after the last digit of the sum, until there are enough to round.
        var position = 0
        var significant = 0
        while position < digits.count || (remainder > 0 && significant < Self.mostDigits + 1) {
            let digit = position < digits.count ? Int(digits[position]) : 0
            if position >= digits.count { power -= 1 }
            let (next, rest) = (remainder * 10 + digit).quotientAndRemainder(dividingBy: count)
            remainder = rest
            quotient.append(UInt8(next))
            if significant > 0 || next > 0 { significant += 1 }
            position += 1
        }
        return Self.encode(isNegative, quotient, lowestPower: power, isRounded: true)
    }

    /// The sign and all digits of the sum, the highest first.
    private var magnitude: (isNegative: Bool, digits: [UInt8]) {
        var carried = self
        carried.carry()
        let isNegative = carried.limbs.last! < 0
        if isNegative {
            for index in carried.limbs.indices { carried.limbs[index].negate() }
            carried.carry()
        }
        var digits: [UInt8] = []
        for limb in carried.limbs.reversed() {
            let text = String(limb)
            digits += repeatElement(0, count: max(Self.digitsPerLimb - text.utf8.count, 0))
            digits += text.utf8.map { $0 - UInt8(ascii: "0") }
        }
        return (isNegative, digits)
    }

    /// The number of digits that every decimal number can have.
    private static let mostDigits = 38
    /// The power of ten of the last digit that a decimal number can have.
    private static let smallestPower = -128

    /// Returns the stored form of the number of these digits; nil if a `Decimal` cannot hold it.
    static func encode(
        _ isNegative: Bool,
        _ digits: [UInt8],
        lowestPower: Int,
        isRounded: Bool
    ) -> Data? {
        var digits = Array(digits.drop { $0 == 0 })
        var power = lowestPower
        let excess = max(digits.count - mostDigits, smallestPower - power)
        if isRounded, excess > 0 {
            let kept = digits.count - excess
            let roundsUp = kept >= 0 && digits[kept] >= 5
            digits.removeLast(min(excess, digits.count))
            power += excess
            if roundsUp { increment(&digits) }
        }
        while digits.last == 0 {
            digits.removeLast()
            power += 1
        }
        guard !digits.isEmpty else { return SortableDecimal.encode(0) }
        guard let decimal = SortableDecimal.decimal(isNegative: isNegative, digits: digits, power: power) else {
            return nil
        }
        // A number with too many digits was rounded.
        let parts = SortableDecimal.encode(decimal).withUnsafeBytes(SortableDecimal.Parts.init)
        guard case .digits(isNegative, let exponent, let pairs) = parts, exponent == digits.count + power else {
            return nil
        }
        var kept = pairs.flatMap { [$0 / 10, $0 % 10] }
        if kept.last == 0 { kept.removeLast() }
        return kept == digits ? SortableDecimal.encode(decimal) : nil
    }

    private static func increment(_ digits: inout [UInt8]) {
        for index in digits.indices.reversed() {
            digits[index] += 1
            if digits[index] < 10 { return }
            digits[index] = 0
        }
        digits.insert(1, at: 0)
    }
}
