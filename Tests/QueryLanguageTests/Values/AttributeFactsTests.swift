import Foundation
@testable import QueryLanguage
import Testing

/// The table of column types.
@Suite struct AttributeFactsTests {
    @Test(arguments: AttributeType.allCases)
    func `the Swift type of a column type has the column type`(_ type: AttributeType) {
        #expect(type.facts.swiftType.map { $0.attributeType } ?? .composite == type)
    }

    @Test(arguments: AttributeType.allCases)
    func `only the form of integers in a range limits integers`(_ type: AttributeType) throws {
        let values = [Int64.min, -1, 0, 1, 2, 255, 256, .max].map(Value.integer)
        let held = values.filter { $0.isRepresentable(as: type) }
        #expect(held.isEmpty == (type.storage != .integer))
        #expect((held.count == values.count) == (type.storage == .integer && type.integerRange == nil))
    }

    @Test(arguments: AttributeType.allCases)
    func `CAST knows a type by its name`(_ type: AttributeType) throws {
        let names = [type.rawValue] + (type.facts.castName.map { [$0, "NS\($0)"] } ?? [])
        for name in names {
            let value = try FormatFixtures.value("CAST(NIL, '\(name)')")
            #expect(value == .literal(.null))
        }
    }

    @Test(arguments: AttributeType.allCases)
    func `a sum or an average of values that cannot be added has the type of numbers`(_ type: AttributeType) {
        guard !type.isSummable else { return }
        #expect(type.sumType == .int64 && type.averageType == .double)
    }
}
