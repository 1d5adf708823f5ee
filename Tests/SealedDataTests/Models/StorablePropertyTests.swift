import Foundation
import SealedData
import Testing

@Suite("Properties of types with a column form")
struct StorablePropertyTests {
    @Model final class Scalars {
        var int: Int
        var int8: Int8
        var int16: Int16
        var int32: Int32
        var int64: Int64
        var uint: UInt
        var uint8: UInt8
        var uint16: UInt16
        var uint32: UInt32
        var uint64: UInt64
        var bool: Bool
        var float: Float
        var double: Double
        var decimal: Decimal
        var string: String
        var date: Date
        var uuid: UUID
        var url: URL
        var data: Data

        init(_ seed: Scalars.Seed) {
            int = seed.isHigh ? .max : .min
            int8 = seed.isHigh ? .max : .min
            int16 = seed.isHigh ? .max : .min
            int32 = seed.isHigh ? .max : .min
            int64 = seed.isHigh ? .max : .min
            uint = seed.isHigh ? .max : .min
            uint8 = seed.isHigh ? .max : .min
            uint16 = seed.isHigh ? .max : .min
            uint32 = seed.isHigh ? .max : .min
            uint64 = seed.isHigh ? .max : .min
            bool = seed.isHigh
            float = seed.isHigh ? .infinity : -.leastNonzeroMagnitude
            double = seed.isHigh ? .greatestFiniteMagnitude : -.infinity
            decimal = seed.isHigh ? .greatestFiniteMagnitude : -.leastNonzeroMagnitude
            string = seed.isHigh ? "👩‍👩‍👧‍👦 \u{0} \u{10FFFF} ñ n\u{303}" : ""
            date = seed.isHigh ? .distantFuture : .distantPast
            uuid = seed.uuid
            url = URL(string: seed.isHigh ? "https://example.com/a%20b?c=d#e" : "mailto:a@example.com")!
            data = seed.isHigh ? Data((0...255).map { UInt8($0) }) : Data()
        }

        struct Seed {
            var isHigh: Bool
            var uuid: UUID
        }
    }

    @Test(arguments: [true, false])
    func `every type survives saving`(isHigh: Bool) throws {
        let seed = Scalars.Seed(isHigh: isHigh, uuid: UUID())
        let expected = Scalars(seed)
        let saved = try Saved(Scalars(seed))
        let model = saved.model
        #expect(model.int == expected.int)
        #expect(model.int8 == expected.int8)
        #expect(model.int16 == expected.int16)
        #expect(model.int32 == expected.int32)
        #expect(model.int64 == expected.int64)
        #expect(model.uint == expected.uint)
        #expect(model.uint8 == expected.uint8)
        #expect(model.uint16 == expected.uint16)
        #expect(model.uint32 == expected.uint32)
        #expect(model.uint64 == expected.uint64)
        #expect(model.bool == expected.bool)
        #expect(model.float.bitPattern == expected.float.bitPattern)
        #expect(model.double.bitPattern == expected.double.bitPattern)
        #expect(model.decimal == expected.decimal)
        #expect(Array(model.string.unicodeScalars) == Array(expected.string.unicodeScalars))
        #expect(model.date == expected.date)
        #expect(model.uuid == expected.uuid)
        #expect(model.url == expected.url)
        #expect(model.data == expected.data)
    }

    @Model final class Optionals {
        var int: Int?
        var uint64: UInt64?
        var bool: Bool?
        var double: Double?
        var decimal: Decimal?
        var string: String?
        var date: Date?
        var uuid: UUID?
        var url: URL?
        var data: Data?

        init() {}
    }

    @Test func `optional properties are nil until they are set`() throws {
        let saved = try Saved(Optionals())
        let model = saved.model
        #expect(model.int == nil)
        #expect(model.uint64 == nil)
        #expect(model.bool == nil)
        #expect(model.double == nil)
        #expect(model.decimal == nil)
        #expect(model.string == nil)
        #expect(model.date == nil)
        #expect(model.uuid == nil)
        #expect(model.url == nil)
        #expect(model.data == nil)
    }

    @Test func `optional properties keep their values`() throws {
        let new = Optionals()
        let uuid = UUID()
        new.int = 0
        new.uint64 = .max
        new.bool = false
        new.double = 0
        new.decimal = 0
        new.string = ""
        new.date = Date(timeIntervalSinceReferenceDate: 0.1)
        new.uuid = uuid
        new.url = URL(string: "file:///a")
        new.data = Data()
        let saved = try Saved(new)
        let model = saved.model
        #expect(model.int == 0)
        #expect(model.uint64 == .max)
        #expect(model.bool == false)
        #expect(model.double == 0)
        #expect(model.decimal == 0)
        #expect(model.string == "")
        #expect(model.date == Date(timeIntervalSinceReferenceDate: 0.1))
        #expect(model.uuid == uuid)
        #expect(model.url == URL(string: "file:///a"))
        #expect(model.data == Data())
    }

    @Test func `an optional property can be set to nil again`() throws {
        let new = Optionals()
        new.string = "x"
        new.string = nil
        #expect(new.string == nil)
        #expect(try Saved(new).model.string == nil)
    }

    @Model final class Unwrapped {
        var given: String! = "given"
        var open: Int!

        init() {}
    }

    @Test func `implicitly unwrapped properties are optional`() throws {
        let empty = try Saved(Unwrapped())
        #expect(empty.model.given == "given")
        #expect(empty.model.open == nil)
        let new = Unwrapped()
        new.given = nil
        new.open = 3
        let saved = try Saved(new)
        #expect(saved.model.given == nil)
        let open: Int = saved.model.open
        #expect(open == 3)
    }
}
