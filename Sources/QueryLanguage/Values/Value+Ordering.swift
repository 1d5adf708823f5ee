import Foundation

extension Value {
    /// Compares values: null, numbers by their value, text in Swift's order, blobs by their bytes.
    ///
    /// - Returns: A negative number, 0 or a positive number.
    package func compare(_ other: Value) -> Int {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): Self.order(left, right)
        case (.real(let left), .real(let right)): Self.order(left, right)
        case (.integer(let left), .real(let right)): Self.order(left, right)
        case (.real(let left), .integer(let right)): -Self.order(right, left)
        case (.text(let left), .text(let right)): TextOrder.lexical.compare(left, right)
        case (.blob(let left), .blob(let right)):
            left.withUnsafeBytes { left in right.withUnsafeBytes { left.compareBytes($0) } }
        case (.uuid(let left), .uuid(let right)):
            withUnsafeBytes(of: left.uuid) { left in withUnsafeBytes(of: right.uuid) { left.compareBytes($0) } }
        case (.uuid(let left), .blob(let right)):
            withUnsafeBytes(of: left.uuid) { left in right.withUnsafeBytes { left.compareBytes($0) } }
        case (.blob, .uuid): -other.compare(self)
        default: Self.order(rank, other.rank)
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob, .uuid: 3
        }
    }

    private static func order<T: Comparable>(_ left: T, _ right: T) -> Int {
        left < right ? -1 : left > right ? 1 : 0
    }

    /// Puts NaN, which an object can have until it is saved, below all numbers.
    private static func order(_ left: Double, _ right: Double) -> Int {
        if left < right { return -1 }
        if left > right { return 1 }
        return left == right ? 0 : (left.isNaN ? 0 : 1) - (right.isNaN ? 0 : 1)
    }

    /// Compares without rounding the integer to a double.
    private static func order(_ left: Int64, _ right: Double) -> Int {
        if right.isNaN { return 1 }
        if right >= 0x1p63 { return -1 }
        if right < -0x1p63 { return 1 }
        let whole = Int64(right.rounded(.towardZero))
        return left != whole ? order(left, whole) : order(0 as Double, right - Double(whole))
    }
}
