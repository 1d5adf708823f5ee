package import Foundation

// Foundation's multiplication traps if the last digit of the product is below 10⁻¹²⁸, the smallest power of ten of a
// decimal number. Its division returns NaN if the last digit of the quotient is below it.
extension Decimal {
    private static let smallestPower = -128

    /// Whether Foundation's multiplication with another number traps.
    package func productUnderflows(with other: Decimal) -> Bool {
        !isNaN && !other.isNaN && exponent + other.exponent < Self.smallestPower
    }

    /// Returns the product, rounded to the digits that a decimal number can have; NaN if it is too large.
    func multiplied(by other: Decimal) -> Decimal {
        guard productUnderflows(with: other) else { return self * other }
        let product = Decimal.scaled(significand * other.significand, by: exponent + other.exponent)
        return sign == other.sign ? product : -product
    }

    /// Returns the quotient, rounded to the digits that a decimal number can have; NaN if it is too large.
    ///
    /// - Precondition: The divisor is not zero.
    func divided(by divisor: Decimal) -> Decimal {
        let quotient = self / divisor
        guard quotient.isNaN, !isNaN, !divisor.isNaN else { return quotient }
        let rounded = Decimal.scaled(significand / divisor.significand, by: exponent - divisor.exponent)
        return sign == divisor.sign ? rounded : -rounded
    }

    /// Returns a positive number or zero, multiplied by a power of ten and rounded.
    private static func scaled(_ number: Decimal, by power: Int) -> Decimal {
        switch SortableDecimal.encode(number).withUnsafeBytes(SortableDecimal.Parts.init) {
        case .zero?: return 0
        case .digits(_, let exponent, let pairs)?:
            let digits = pairs.flatMap { [$0 / 10, $0 % 10] }
            let lowestPower = exponent - digits.count + power
            let data = DecimalSum.encode(false, digits, lowestPower: lowestPower, isRounded: true)
            return data.flatMap { $0.withUnsafeBytes(SortableDecimal.decode) } ?? .nan
        case .notANumber?, nil: return .nan
        }
    }
}
