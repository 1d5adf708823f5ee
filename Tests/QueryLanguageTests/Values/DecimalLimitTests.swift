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

    private func apply(_ operation: QueryExpression.Arithmetic, _ left: Decimal, _ right: Decimal) throws -> Decimal? {
        Decimal(storedValue: try operation.apply(left.storedValue, right.storedValue, as: .decimal))
    }

    private func decimal(_ text: String) throws -> Decimal {
        try #require(Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")))
    }

    @Test(arguments: [
        ("1e-100", "1e-40", "0"), ("1e-128", "1e-128", "0"), ("-1e-128", "0.1", "0"), ("6e-128", "0.1", "1e-128"),
        ("-5e-128", "0.1", "-1e-128"), ("123456e-100", "1e-30", "1235e-128"), ("-25e-66", "-5e-64", "1e-128"),
        ("0", "1e-128", "0"), ("1e-128", "1e-10", "0"), ("1e-100", "1e100", "1"),
    ])
    func `a product below the smallest decimal is rounded`(left: String, right: String, product: String) throws {
        let expected = try decimal(product)
        #expect(try apply(.multiply, decimal(left), decimal(right)) == expected)
        #expect(try apply(.multiply, decimal(right), decimal(left)) == expected)
    }

    @Test(arguments: [
        ("1e-100", "1e100", "0"), ("1e-128", "2", "1e-128"), ("-1e-128", "3", "0"),
        ("2e-100", "-3", "-6666666666666666666666666667e-128"),
        ("1", "1e-100", "1e100"),
    ])
    func `a quotient below the smallest decimal is rounded`(left: String, right: String, quotient: String) throws {
        #expect(try apply(.divide, decimal(left), decimal(right)) == decimal(quotient))
    }

    @Test func `a remainder with numbers of very different magnitudes has a value`() throws {
        #expect(try apply(.remainder, decimal("1e-100"), decimal("1e100")) == decimal("1e-100"))
        #expect(try apply(.remainder, .leastNonzeroMagnitude, .greatestFiniteMagnitude) == .leastNonzeroMagnitude)
        #expect(throws: QueryError.arithmeticOverflow) { try apply(.remainder, decimal("1e100"), decimal("1e-100")) }
    }

    @Test func `no calculation with numbers at the limits ends the process`() throws {
        let numbers: [Decimal] = [
            0, 1, -1, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .greatestFiniteMagnitude,
            .leastFiniteMagnitude, .pi, try decimal("1e-64"), try decimal("3e-65"), try decimal("99999e127"),
            try decimal("340282366920938463463374607431768211455e-128"),
        ]
        for left in numbers {
            for right in numbers {
                for operation in QueryExpression.Arithmetic.allCases {
                    do {
                        let result = try apply(operation, left, right)
                        #expect(result?.isNaN == false, "\(operation) of \(left) and \(right)")
                    } catch QueryError.arithmeticOverflow {}
                }
            }
        }
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
