import Foundation
@testable import QueryLanguage
import Testing

/// Decimal numbers at the limits of their type, and malformed bytes.
@Suite struct DecimalLimitTests {
    @Test(arguments: [Double.infinity, -Double.infinity, 1e300, -1e300])
    func `a calculation with a real out of the range of decimals is an overflow`(real: Double) {
        for operation in QueryExpression.Arithmetic.allCases {
            #expect(throws: QueryError.arithmeticOverflow) {
                try operation.apply(Decimal(2).storedValue, .real(real), as: .decimal)
            }
            #expect(throws: QueryError.arithmeticOverflow) {
                try operation.apply(.real(real), Decimal(2).storedValue, as: .decimal)
            }
        }
    }

    @Test func `a calculation with NaN is NaN`() throws {
        let result = try QueryExpression.Arithmetic.multiply.apply(Decimal(2).storedValue, .real(.nan), as: .decimal)
        #expect(Decimal(storedValue: result)?.isNaN == true)
    }

    @Test func `malformed bytes and numbers with too many digits are nil`() {
        let digits = [UInt8](repeating: 100, count: 100_000)
        for bytes: [UInt8] in [
            [], [3], [4], [3, 0x80], [3, 0x80, 0], [3, 0x80, 0, 0], [3, 0x80, 0, 101, 0], [3, 0xFF, 0xFF, 100, 0],
            [3, 0, 0, 100, 0], [3, 0x80, 0xA0] + digits + [0], [1, 0x7F, 0x5F] + digits.map { ~$0 } + [255],
        ] {
            #expect(bytes.withUnsafeBytes(SortableDecimal.decode) == nil, "\(bytes.prefix(8))")
            var sum = DecimalSum()
            _ = bytes.withUnsafeBytes { sum.add($0) }
            _ = sum.sum
            _ = sum.average
        }
    }
}
