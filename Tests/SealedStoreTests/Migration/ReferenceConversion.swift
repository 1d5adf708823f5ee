import Foundation
import ObjectGraph

/// Conversions of values between Swift's own types, written independently of the store's.
enum ReferenceConversion {
    /// Values of each type at its extremes.
    static func samples(_ type: AttributeType) -> [Value] {
        func integers<T: FixedWidthInteger & StorableValue>(_ type: T.Type) -> [Value] {
            [T.min, 0, 1, 42, T.max].map { .integer(Int64(truncatingIfNeeded: $0)) }
        }
        switch type {
        case .int8: return integers(Int8.self)
        case .int16: return integers(Int16.self)
        case .int32: return integers(Int32.self)
        case .int64: return integers(Int64.self) + [1 << 53, (1 << 53) + 1, -(1 << 53), 1 << 24].map { .integer($0) }
        case .uint8: return integers(UInt8.self)
        case .uint16: return integers(UInt16.self)
        case .uint32: return integers(UInt32.self)
        case .uint64: return integers(UInt64.self)
        case .bool: return [.integer(0), .integer(1)]
        case .float:
            return [0, -0.0, 1, 0.1, -2.5, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, 16_777_216]
                .map { (float: Float) in float.storedValue }
        case .double:
            return [0, -0.0, 1, 0.1, -2.5, 255, 1e300, .leastNonzeroMagnitude, -.infinity, 9_007_199_254_740_992]
                .map(Value.real)
        case .decimal:
            return ["0", "1", "-2.5", "0.1", "123456789012345678901234567890", "255", "1e100"]
                .compactMap { Decimal(string: $0)?.storedValue } + [Decimal.nan.storedValue]
        case .string:
            return [
                "", "0", "1", "-1", "127", "007", "+5", "2.50", "0.1", "-0.0", "1e3", "true", "false", "Ä\u{0308}", "é",
                "18446744073709551615", "0.12345678901234567890", "inf", "nan", " 1", "0x10", "it's",
                "6F9619FF-8B86-D011-B42D-00CF4FC964FF", "6f9619ff-8b86-d011-b42d-00cf4fc964fe",
                "https://example.com/a?b=c", "a b",
            ].map(Value.text)
        case .date: return [.real(0), .real(-1.5), .real(1e10)]
        case .duration: return [0, 1_500_000_000, .min, .max].map(Value.integer)
        case .uuid: return [.uuid(UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964FF")!)]
        case .url: return [.text("https://example.com/a?b=c"), .text("file:///a%20b")]
        case .data:
            return [Data(), Data([0xFF, 0]), Data(repeating: 7, count: 16), Data("text".utf8)].map(Value.blob)
        case .composite:
            return [
                "1", "-1", "300", "1.5", "true", "\"a/b\"", "\"6F9619FF-8B86-D011-B42D-00CF4FC964FF\"", "{\"a\":1}",
                "[1,2]", "\"AAE=\"", "1e3", "\"https://example.com\"",
            ].map(Value.text)
        }
    }

    /// The converted value; nil if it would not survive.
    static func convert(_ value: Value, _ from: AttributeType, _ to: AttributeType) -> Value? {
        if from == to { return value }
        if to == .composite { return encode(value, from).map(Value.text) }
        if from == .composite {
            guard case .text(let text) = value else { return nil }
            return decode(text, to)
        }
        let isNumber = { (type: AttributeType) in
            type != .bool && (isInteger(type) || [.float, .double, .decimal].contains(type))
        }
        switch (from, to) {
        case (.date, _), (_, .date): return nil
        case (.string, .data):
            guard case .text(let text) = value else { return nil }
            return .blob(Data(text.utf8))
        case (.data, .string):
            guard case .blob(let data) = value else { return nil }
            return String(validating: data, as: UTF8.self).map(Value.text)
        case (.data, .uuid): return UUID(storedValue: value)?.storedValue
        case (.uuid, .data):
            return UUID(storedValue: value).map { uuid in .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }) }
        case (.url, .string): return value
        case (.string, _), (_, .string):
            if from == .data || to == .data { return nil }
        default: guard isInteger(from) && isInteger(to) || isNumber(from) && isNumber(to) else { return nil }
        }
        return write(value, from).flatMap { read($0, to) }
    }

    private static func isInteger(_ type: AttributeType) -> Bool { type.storage == .integer }

    /// The value as text.
    private static func write(_ value: Value, _ type: AttributeType) -> String? {
        switch type {
        case .bool: value == .integer(1) ? "true" : "false"
        case .uint64: UInt64(storedValue: value).map { "\($0)" }
        case .float: Float(storedValue: value).map { "\($0)" }
        case .double: Double(storedValue: value).map { "\($0)" }
        case .decimal: Decimal(storedValue: value).flatMap { $0.isNaN ? nil : "\($0)" }
        case .uuid: UUID(storedValue: value)?.uuidString
        default:
            switch value {
            case .integer(let integer): "\(integer)"
            case .text(let text): text
            default: nil
            }
        }
    }

    /// The value that a text stands for: `true` and `false` are the integers 1 and 0 for integer types.
    private static func read(_ text: String, _ type: AttributeType) -> Value? {
        func integer<T: FixedWidthInteger & StorableValue>(_: T.Type) -> Value? {
            // A whole number in another spelling, such as that of a floating-point number.
            if let number = T(text), "\(number)" == text { return .integer(Int64(truncatingIfNeeded: number)) }
            return nil
        }
        switch type {
        case .int8: return integer(Int8.self)
        case .int16: return integer(Int16.self)
        case .int32: return integer(Int32.self)
        case .int64: return integer(Int64.self)
        case .uint8: return integer(UInt8.self)
        case .uint16: return integer(UInt16.self)
        case .uint32: return integer(UInt32.self)
        case .uint64: return integer(UInt64.self)
        case .bool: return text == "true" ? .integer(1) : text == "false" ? .integer(0) : nil
        case .float: return exact(text) { Float($0).map { ("\($0)", $0.storedValue) } }
        case .double: return exact(text) { Double($0).map { ("\($0)", $0.storedValue) } }
        case .decimal:
            return exact(text) { text in
                guard text != "inf", text != "-inf", text != "nan" else { return nil }
                return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map {
                    ("\($0)", $0.storedValue)
                }
            }
        case .uuid: return UUID(uuidString: text).map(\.storedValue)
        case .url:
            guard let url = URL(string: text), url.absoluteString == text else { return nil }
            return url.storedValue
        case .string: return .text(text)
        case .date, .duration, .data, .composite: return nil
        }
    }

    /// A number that has the same digits as the text.
    private static func exact(_ text: String, _ read: (String) -> (String, Value)?) -> Value? {
        guard
            text.range(of: #"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$|^-?inf$"#, options: .regularExpression)
                != nil,
            let (written, value) = read(text)
        else { return nil }
        if written == text { return value }
        // Both as decimals of the largest precision; a text with more digits is not equal to its rounded value.
        let mantissa = text.prefix { $0 != "e" && $0 != "E" }
        let exponent = Int(text.dropFirst(mantissa.count + 1)) ?? 0
        var digits = Array(mantissa.filter(\.isNumber).drop { $0 == "0" })
        while digits.last == "0" { digits.removeLast() }
        guard digits.count <= 38, abs(exponent) <= 100, let one = Decimal(string: text),
            let other = Decimal(string: written), one == other
        else { return nil }
        return value
    }

    private static func encode(_ value: Value, _ type: AttributeType) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        func text<T: StorableValue>(_: T.Type) -> String? {
            if let decimal = T(storedValue: value) as? Decimal, decimal.isNaN { return nil }
            return encoded(T.self)
        }
        func encoded<T: StorableValue>(_: T.Type) -> String? {
            T(storedValue: value).flatMap { try? encoder.encode([$0]) }
                .map { String(String(decoding: $0, as: UTF8.self).dropFirst().dropLast()) }
        }
        return with(type) { text($0) }
    }

    private static func decode(_ text: String, _ type: AttributeType) -> Value? {
        func value<T: StorableValue>(_: T.Type) -> Value? {
            let decoder = JSONDecoder()
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "inf",
                negativeInfinity: "-inf",
                nan: "nan"
            )
            let decoded = try? decoder.decode([T].self, from: Data("[\(text)]".utf8))
            guard let first = decoded?.first, decoded?.count == 1, let value = try? first.storedValue,
                encode(value, type) == text
            else { return nil }
            return value
        }
        return with(type) { value($0) }
    }

    private static func with<R>(_ type: AttributeType, _ body: (any StorableValue.Type) -> R?) -> R? {
        let types: [AttributeType: any StorableValue.Type] = [
            .int8: Int8.self, .int16: Int16.self, .int32: Int32.self, .int64: Int64.self, .uint8: UInt8.self,
            .uint16: UInt16.self, .uint32: UInt32.self, .uint64: UInt64.self, .bool: Bool.self, .float: Float.self,
            .double: Double.self, .decimal: Decimal.self, .string: String.self, .date: Date.self, .uuid: UUID.self,
            .url: URL.self, .data: Data.self, .duration: Duration.self,
        ]
        return types[type].flatMap(body)
    }

    /// The integers and floating-point numbers that convert into each other need no text.
    static func expected(_ value: Value, _ from: AttributeType, _ to: AttributeType) -> Value? {
        switch (value, to) {
        case (.integer, _) where (from == .duration) != (to == .duration) && to != .composite: nil
        case (_, .duration) where from != .composite && from != .duration: nil
        case (.integer(let integer), .float) where from != .bool:
            (from != .uint64 || integer >= 0) && integer.magnitude <= 1 << 24 ? .real(Double(integer)) : nil
        case (.integer(let integer), .double) where from != .bool:
            (from != .uint64 || integer >= 0) && integer.magnitude <= 1 << 53 ? .real(Double(integer)) : nil
        case (.integer(let integer), _) where isInteger(to) && from != to:
            if to == .bool {
                [0, 1].contains(integer) ? value : nil
            } else {
                read(from == .uint64 ? "\(UInt64(bitPattern: integer))" : "\(integer)", to)
            }
        case (.real(let real), .double) where from == .float: .real(real)
        case (.real(let real), .float) where from == .double: Double(Float(real)) == real ? value : nil
        case (.real(let real), _) where isInteger(to) && to != .bool && from != .date:
            if to == .uint64 {
                UInt64(exactly: real)?.storedValue
            } else {
                Int64(exactly: real).flatMap { read("\($0)", to) }
            }
        default: convert(value, from, to)
        }
    }
}
