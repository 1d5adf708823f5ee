import Foundation
import ObjectGraph
import TestSupport
import Testing

@Suite struct AttributeTests {
    /// Boundary and special values of every type.
    static let values: [(type: AttributeType, values: [Value])] = [
        (.int8, [Int8.min, -1, 0, Int8.max].map(\.storedValue)),
        (.int16, [Int16.min, -1, 0, Int16.max].map(\.storedValue)),
        (.int32, [Int32.min, -1, 0, Int32.max].map(\.storedValue)),
        (.int64, [Int64.min, -1, 0, Int64.max].map(\.storedValue)),
        (.uint8, [UInt8.min, UInt8.max].map(\.storedValue)),
        (.uint16, [UInt16.min, UInt16.max].map(\.storedValue)),
        (.uint32, [UInt32.min, UInt32.max].map(\.storedValue)),
        (.uint64, [UInt64.min, UInt64(Int64.max) + 1, UInt64.max].map(\.storedValue)),
        (.bool, [true, false].map(\.storedValue)),
        (
            .float,
            [0, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0.1 as Float]
                .map(\.storedValue)
        ),
        (
            .double,
            [0, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0.1, 1e300]
                .map(\.storedValue)
        ),
        (
            .decimal,
            [
                "0", "-0.1", "1", "10", "100", "12345678901234567890123456789012345678", "0.00000000000000000001",
                "-99999999999999999999999999999999999999e127", "1e-127", "3.1415926535897932384626433832795028841",
            ].map { Decimal(string: $0)!.storedValue }
        ),
        (
            .string,
            [
                "", "a", "\0", "a\0b", "日本語", "👩‍👩‍👧‍👦", "e\u{301}", "\u{10FFFF}", "'\"`[]%_\\;--",
                String(repeating: "long ", count: 100_000),
            ].map(\.storedValue)
        ),
        (.date, [Date.distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0.1)].map(\.storedValue)),
        (.duration, [Duration.zero, .seconds(-1.5), .nanoseconds(Int64.min)].map { try! $0.storedValue }),
        (
            .uuid,
            [
                UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
                UUID(uuidString: "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF")!,
            ]
            .map(\.storedValue)
        ),
        (.url, [URL(string: "https://example.com/a%20b?c=d#e")!, URL(string: "file:///")!].map(\.storedValue)),
        (.data, [Data(), Data([0]), Data(0...255), Data(repeating: 7, count: 1_000_000)].map(\.storedValue)),
        (.composite, [.text("{\"a\":[1,2,null]}"), .text("null")]),
    ]

    static let model = Fixtures.model(
        EntityDescription(
            "Everything",
            attributes: AttributeType.allCases.map { .init($0.rawValue, $0, isOptional: true) }
        )
    )

    @Test func `the values of every type are tested`() {
        #expect(Set(Self.values.map(\.type)) == Set(AttributeType.allCases))
    }

    @Test(arguments: StoreKind.allCases)
    func `values of every type survive a round trip bit for bit`(kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        for (type, values) in Self.values {
            for value in values {
                let object = context.make("Everything", [type.rawValue: value])
                #expect(Self.areIdentical(object[type.rawValue], value), "\(type) before it is saved")
                try context.save()
                #expect(Self.areIdentical(object[type.rawValue], value), "\(type) after it was saved")
                let reader = store.context()
                let other = try reader.counterpart(of: object)
                #expect(Self.areIdentical(other[type.rawValue], value), "\(type) in another context")
                for name in AttributeType.allCases where name != type {
                    #expect(other[name.rawValue].isNull, "\(name), which was not set")
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a value is set, changed and cleared`(kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        for (type, values) in Self.values {
            let object = context.make("Everything")
            try context.save()
            for value in values + [.null] {
                object[type.rawValue] = value
                try context.save()
                let reader = store.context()
                let other = try reader.counterpart(of: object)
                #expect(Self.areIdentical(other[type.rawValue], value), "\(type)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `many rows of different lengths survive a round trip`(kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        var random = SeededGenerator(seed: 1)
        var texts: [String] = []
        for number in 0..<2_000 {
            let length = random.chance(1) ? 200_000 : Int.random(in: 0..<60, using: &random)
            texts.append("\(number) " + String(repeating: "ä", count: length))
            context.make(
                "Everything",
                [
                    "int64": .integer(Int64(number)), "string": .text(texts[number]),
                    "data": .blob(Data(texts[number].utf8)),
                ]
            )
        }
        try context.save()
        let found = try store.context().all("Everything")
        #expect(found.count == texts.count)
        for (number, object) in found.enumerated() {
            #expect(object["int64"] == .integer(Int64(number)), "number \(number)")
            #expect(object["string"] == .text(texts[number]), "text \(number)")
            #expect(object["data"] == .blob(Data(texts[number].utf8)), "data \(number)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an entity may have many properties`(kind: StoreKind) throws {
        let model = Fixtures.model(
            EntityDescription("Wide", attributes: (0..<200).map { .init("a\($0)", .int64, isOptional: true) })
        )
        let store = try TestStore(kind, model)
        let context = store.context()
        let wide = context.make("Wide")
        for number in 0..<200 where number % 3 == 0 { wide["a\(number)"] = .integer(Int64(number)) }
        try context.save()
        for number in 0..<200 where number % 3 == 1 { wide["a\(number)"] = .integer(Int64(number)) }
        try context.save()
        let reader = store.context()
        let other = try reader.one("Wide")
        for number in 0..<200 {
            #expect(other["a\(number)"] == (number % 3 == 2 ? .null : .integer(Int64(number))), "a\(number)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `negative zero keeps its sign when other values change`(kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        let object = context.make("Everything", ["double": .real(-0.0), "float": .real(-0.0), "date": .real(0)])
        try context.save()
        func expect(_ double: Double, _ float: Double, line: SourceLocation = #_sourceLocation) throws {
            let fresh = store.context()
            let found = try fresh.one("Everything", where: Self.model.path("Everything", "double") == 0.0)
            #expect(Self.areIdentical(found["double"], .real(double)), "double", sourceLocation: line)
            #expect(Self.areIdentical(found["float"], .real(float)), "float", sourceLocation: line)
            #expect(Self.areIdentical(found["date"], .real(0)), "date", sourceLocation: line)
        }
        try expect(-0.0, -0.0)
        object["int64"] = 1
        try context.save()
        try expect(-0.0, -0.0)
        object["float"] = .real(0)
        try context.save()
        try expect(-0.0, 0)
        let entity = Self.model.entitiesByName["Everything"]!
        try context.execute(BatchUpdateRequest(entity, propertiesToUpdate: ["float": .literal(.real(1))]))
        try context.execute(BatchUpdateRequest(entity, propertiesToUpdate: ["float": .literal(.real(0))]))
        try expect(-0.0, 0)
        #expect(Self.areIdentical(object["double"], .real(-0.0)))
        context.delete(object)
        try context.save()
        #expect(try store.context().all("Everything").isEmpty)
    }

    @Test func `decimals are ordered as their stored bytes are`() throws {
        let texts = [
            "-1e127", "-100", "-99.5", "-1", "-0.1", "-0.01", "-1e-100", "0", "1e-100", "0.01", "0.099", "0.1", "1",
            "1.5", "9.99",
            "10", "99", "99.5", "100", "101", "1e127",
        ]
        let decimals = texts.map { Decimal(string: $0)! }
        for (left, right) in zip(decimals, decimals.dropFirst()) {
            guard case .blob(let leftBytes) = left.storedValue, case .blob(let rightBytes) = right.storedValue else {
                Issue.record("decimals are stored as blobs")
                return
            }
            #expect(leftBytes.lexicographicallyPrecedes(rightBytes), "\(left) < \(right)")
            #expect(Decimal(storedValue: left.storedValue) == left)
        }
    }

    /// Whether the values have the same form and the same bits; -0 is not 0.
    private static func areIdentical(_ left: Value, _ right: Value) -> Bool {
        if case .real(let left) = left, case .real(let right) = right { return left.bitPattern == right.bitPattern }
        if case .text(let left) = left, case .text(let right) = right { return Array(left.utf8) == Array(right.utf8) }
        return left == right
    }
}
