import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Every type becomes every other type, with values at its extremes and without a value.
@Suite struct ConversionMatrixTests {
    private let folder = TemporaryFolder()

    private static func model(_ type: AttributeType) -> [EntityDescription] {
        [EntityDescription("Sample", attributes: [.init("value", type, isOptional: true), .init("number", .int64)])]
    }

    private func write(_ name: String, _ type: AttributeType, _ values: [Value]) throws -> URL {
        let url = folder.file(name)
        let store = try MigratingStore(url, Self.model(type))
        for (number, value) in ([.null] + values).enumerated() {
            store.insert("Sample", ["value": value, "number": .integer(Int64(number))])
        }
        try store.saveAndClose()
        return url
    }

    /// Floating-point numbers by their bits: negative zero differs from zero.
    private static func bits(_ values: [Value]) -> [String] {
        values.map { value in
            switch value {
            case .real(let real): "real \(real.bitPattern)"
            case .uuid(let uuid): Value.blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }).text
            default: value.text
            }
        }
    }

    @Test(arguments: AttributeType.allCases)
    func `values become those of another type exactly, or are counted`(from: AttributeType) throws {
        let samples = ReferenceConversion.samples(from)
        for to in AttributeType.allCases {
            let expected = samples.map { ReferenceConversion.expected($0, from, to) }
            let lost = expected.count { $0 == nil }
            let url = try write("\(from)-\(to)", from, samples)
            let before = try Data(contentsOf: url)
            let problems = try MigratingStore.refusal {
                let store = try MigratingStore(url, Self.model(to))
                #expect(
                    Self.bits(try store.values("Sample", "value")) == Self.bits([.null] + expected.compactMap(\.self)),
                    "\(from) to \(to)"
                )
                #expect(try store.problems() == [], "\(from) to \(to)")
                try store.close()
            }
            #expect(problems.map(\.rows) == (lost == 0 ? [] : [lost]), "\(from) to \(to)")
            guard lost > 0 else { continue }
            #expect(problems.map(\.kind) == [.notConvertible(from: from, to: to)])
            #expect(try Data(contentsOf: url) == before)
            let kept = zip(samples, expected).filter { $1 != nil }.map(\.0)
            let fitting = try MigratingStore(write("\(from)-\(to)-fitting", from, kept), Self.model(to))
            #expect(
                Self.bits(try fitting.values("Sample", "value")) == Self.bits([.null] + expected.compactMap(\.self)),
                "\(from) to \(to)"
            )
            #expect(try fitting.problems() == [], "\(from) to \(to)")
            try fitting.close()
        }
    }
}
