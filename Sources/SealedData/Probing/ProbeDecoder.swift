import Foundation
import ObjectGraph

/// A decoder of generated values, which creates a value of any decodable type.
final class ProbeDecoder: Decoder {
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private let values: ProbeValues

    /// The style of the generated values.
    enum Style {
        /// Values that distinguish the members of a type, different for different seeds. Optionals have values.
        case distinct(seed: Int)
        /// nil, empty texts and lists, zeros, false, and the first cases of enums.
        case empty
        /// nil, texts of one character, lists of one element, ones, true, and the first cases of enums.
        case one
    }

    convenience init(_ style: Style) { self.init(ProbeValues(style), at: []) }

    init(_ values: ProbeValues, at codingPath: [any CodingKey]) {
        self.values = values
        self.codingPath = codingPath
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(KeyedProbes(values: values, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { ListedProbes(values: values, codingPath: codingPath) }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        SingleProbe(values: values, codingPath: codingPath)
    }
}

/// The generated values of one attempt.
final class ProbeValues {
    /// The limit of the depth, for types that contain themselves.
    static let largestDepth = 4
    /// The limit of the number of values, for types that decode without end.
    private static let largestHeight = 64

    let style: ProbeDecoder.Style
    private var generator: Generator
    private var height = 0
    /// The value of all parts of its type; nil for generated values.
    private var given: (type: any Any.Type, value: Any)?

    /// Values that distinguish the members of a type, different for different seeds.
    convenience init(seed: Int) { self.init(.distinct(seed: seed)) }

    /// Values that distinguish the members of a type, except that all members of the type of `element` are `element`.
    convenience init<Element>(holding element: Element) {
        self.init(seed: 0)
        given = (Element.self, element)
    }

    init(_ style: ProbeDecoder.Style) {
        self.style = style
        let seed = if case .distinct(let seed) = style { seed } else { 0 }
        generator = Generator(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1)
    }

    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    func bool() -> Bool {
        switch style {
        case .distinct: Bool.random(using: &generator)
        case .empty: false
        case .one: true
        }
    }

    func string() -> String {
        switch style {
        case .distinct: "probe\(UInt32.random(in: 0 ... .max, using: &generator))"
        case .empty: ""
        case .one: "1"
        }
    }

    func double() -> Double {
        switch style {
        case .distinct: Double(Int.random(in: 1...1_000_000, using: &generator)) + 0.5
        case .empty: 0
        case .one: 1
        }
    }

    func integer<Integer: FixedWidthInteger>() -> Integer {
        switch style {
        case .distinct: Integer.random(in: 1...(.max), using: &generator)
        case .empty: 0
        case .one: 1
        }
    }

    func float() -> Float {
        if case .distinct = style { Float(integer() as Int16) } else { Float(double()) }
    }

    func uuid() -> UUID {
        if case .distinct = style { UUID() } else { Row.nullSlot.uuid(at: 0) }
    }

    /// Returns whether the value at a coding path is nil.
    func isNil(at codingPath: [any CodingKey]) -> Bool {
        if case .distinct = style { codingPath.count >= Self.largestDepth } else { true }
    }

    /// The number of elements of a list.
    func count(at codingPath: [any CodingKey]) -> Int {
        switch style {
        case .distinct: codingPath.count >= Self.largestDepth ? 0 : 2
        case .empty: 0
        case .one: codingPath.count >= Self.largestDepth ? 0 : 1
        }
    }

    /// Returns the keys of a value that lists its keys: a dictionary has any keys, an enum with associated values has
    /// the name of a case.
    func keys<Key: CodingKey>(_ type: Key.Type) -> [Key] {
        if let cases = EnumerationCases.all(of: type) { return Array(cases.prefix(1)) }
        if case .distinct = style { return [Key(stringValue: string())].compactMap(\.self) }
        return []
    }

    /// Returns a value of a column type, a case of an enum, a value decoded from further values, or a structure
    /// assembled from its stored properties.
    func value<T: Decodable>(_ type: T.Type, at codingPath: [any CodingKey]) throws -> T {
        if let value = basicValue(type) { return value }
        height += 1
        defer { height -= 1 }
        guard height <= Self.largestHeight else {
            throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: "\(type) has no end"))
        }
        do {
            return try T(from: ProbeDecoder(self, at: codingPath))
        } catch {
            // The type accepts only certain values, and the program may decode only these.
            guard case .distinct = style, let value = assembledValue(type, depth: codingPath.count) else { throw error }
            return value
        }
    }

    /// Returns a value of a type that is not composed of others, or the given value of the type.
    func basicValue<T>(_ type: T.Type) -> T? {
        if let given, given.type == type { return given.value as? T }
        if let storable = type as? any StorableValue.Type, let value = storable.probe(self) as? T { return value }
        if let cases = type as? any CaseIterable.Type, let value = anyCase(of: cases) as? T { return value }
        if let cases = EnumerationCases.all(of: type), let value = one(of: cases) { return value }
        return Self.sample(of: type) as? T
    }

    private func anyCase<Cases: CaseIterable>(of type: Cases.Type) -> Any? { one(of: type.allCases) }

    private func one<Cases: Collection>(of cases: Cases) -> Cases.Element? {
        if case .distinct = style { cases.randomElement(using: &generator) } else { cases.first }
    }

    /// Returns a value of one of Foundation's types that is not composed of the values above.
    private static func sample(of type: any Any.Type) -> Any? {
        switch ObjectIdentifier(type) {
        case ObjectIdentifier(TimeZone.self): return TimeZone.gmt
        case ObjectIdentifier(Locale.self): return Locale(identifier: "en_US_POSIX")
        case ObjectIdentifier(Calendar.self): return Calendar(identifier: .gregorian)
        case ObjectIdentifier(DateComponents.self): return DateComponents(year: 2001)
        case ObjectIdentifier(DateInterval.self): return DateInterval()
        case ObjectIdentifier(CharacterSet.self): return CharacterSet()
        case ObjectIdentifier(IndexSet.self): return IndexSet()
        case ObjectIdentifier(IndexPath.self): return IndexPath()
        case ObjectIdentifier(URLComponents.self): return URLComponents()
        case ObjectIdentifier(PersonNameComponents.self): return PersonNameComponents()
        case ObjectIdentifier(AttributedString.self): return AttributedString()
        default: return nil
        }
    }
}

extension StorableValue {
    /// Returns some different values.
    static var probes: [Any] { (0..<4).map { probe(ProbeValues(seed: $0)) as Any } }

    fileprivate static func probe(_ values: ProbeValues) -> Self? {
        switch attributeType.form {
        case .boolean: Self(storedValue: .integer(values.bool() ? 1 : 0))
        case .integer(let range) where range.upperBound <= UInt8.max:
            Self(storedValue: .integer(Int64(values.integer() as Int8)))
        case .integer(let range) where range.upperBound <= UInt16.max:
            Self(storedValue: .integer(Int64(values.integer() as Int16)))
        case .integer, .unsigned: Self(storedValue: .integer(Int64(values.integer() as Int32)))
        case .float, .double, .date: Self(storedValue: .real(values.double()))
        case .decimal: Self(storedValue: Decimal(values.double()).storedValue)
        case .text: Self(storedValue: .text(values.string()))
        case .url: Self(storedValue: .text("https://example.org/\(values.string())"))
        case .uuid: Self(storedValue: .uuid(values.uuid()))
        case .bytes: Self(storedValue: .blob(Data(values.string().utf8)))
        case .json: nil
        }
    }
}

private struct KeyedProbes<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let values: ProbeValues
    let codingPath: [any CodingKey]

    /// The keys of a value that lists its keys; other types know their keys.
    var allKeys: [Key] { values.keys(Key.self) }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { values.isNil(at: codingPath) }
    func decode(_ type: Bool.Type, forKey key: Key) -> Bool { values.bool() }
    func decode(_ type: String.Type, forKey key: Key) -> String { values.string() }
    func decode(_ type: Double.Type, forKey key: Key) -> Double { values.double() }
    func decode(_ type: Float.Type, forKey key: Key) -> Float { values.float() }
    func decode(_ type: Int.Type, forKey key: Key) -> Int { values.integer() }
    func decode(_ type: Int8.Type, forKey key: Key) -> Int8 { values.integer() }
    func decode(_ type: Int16.Type, forKey key: Key) -> Int16 { values.integer() }
    func decode(_ type: Int32.Type, forKey key: Key) -> Int32 { values.integer() }
    func decode(_ type: Int64.Type, forKey key: Key) -> Int64 { values.integer() }
    func decode(_ type: UInt.Type, forKey key: Key) -> UInt { values.integer() }
    func decode(_ type: UInt8.Type, forKey key: Key) -> UInt8 { values.integer() }
    func decode(_ type: UInt16.Type, forKey key: Key) -> UInt16 { values.integer() }
    func decode(_ type: UInt32.Type, forKey key: Key) -> UInt32 { values.integer() }
    func decode(_ type: UInt64.Type, forKey key: Key) -> UInt64 { values.integer() }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try values.value(type, at: codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(KeyedProbes<Nested>(values: values, codingPath: codingPath + [key]))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        ListedProbes(values: values, codingPath: codingPath + [key])
    }

    func superDecoder() -> any Decoder { ProbeDecoder(values, at: codingPath) }
    func superDecoder(forKey key: Key) -> any Decoder { ProbeDecoder(values, at: codingPath + [key]) }
}

private struct ListedProbes: UnkeyedDecodingContainer {
    let values: ProbeValues
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(values: ProbeValues, codingPath: [any CodingKey]) {
        self.values = values
        self.codingPath = codingPath
    }

    var count: Int? { values.count(at: codingPath) }
    var isAtEnd: Bool { currentIndex >= count ?? 0 }

    private var elementPath: [any CodingKey] { codingPath + [Index(intValue: currentIndex)] }

    private struct Index: CodingKey {
        let intValue: Int?
        var stringValue: String { "\(intValue ?? 0)" }

        init(intValue: Int) {
            self.intValue = intValue
        }

        init?(stringValue: String) { nil }
    }

    mutating func decodeNil() -> Bool { false }

    private mutating func next<T>(_ value: T) -> T {
        currentIndex += 1
        return value
    }

    mutating func decode(_ type: Bool.Type) -> Bool { next(values.bool()) }
    mutating func decode(_ type: String.Type) -> String { next(values.string()) }
    mutating func decode(_ type: Double.Type) -> Double { next(values.double()) }
    mutating func decode(_ type: Float.Type) -> Float { next(values.float()) }
    mutating func decode(_ type: Int.Type) -> Int { next(values.integer()) }
    mutating func decode(_ type: Int8.Type) -> Int8 { next(values.integer()) }
    mutating func decode(_ type: Int16.Type) -> Int16 { next(values.integer()) }
    mutating func decode(_ type: Int32.Type) -> Int32 { next(values.integer()) }
    mutating func decode(_ type: Int64.Type) -> Int64 { next(values.integer()) }
    mutating func decode(_ type: UInt.Type) -> UInt { next(values.integer()) }
    mutating func decode(_ type: UInt8.Type) -> UInt8 { next(values.integer()) }
    mutating func decode(_ type: UInt16.Type) -> UInt16 { next(values.integer()) }
    mutating func decode(_ type: UInt32.Type) -> UInt32 { next(values.integer()) }
    mutating func decode(_ type: UInt64.Type) -> UInt64 { next(values.integer()) }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        defer { currentIndex += 1 }
        return try values.value(type, at: elementPath)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
        defer { currentIndex += 1 }
        return KeyedDecodingContainer(KeyedProbes<Nested>(values: values, codingPath: elementPath))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
        defer { currentIndex += 1 }
        return ListedProbes(values: values, codingPath: elementPath)
    }

    mutating func superDecoder() -> any Decoder { ProbeDecoder(values, at: elementPath) }
}

private struct SingleProbe: SingleValueDecodingContainer {
    let values: ProbeValues
    let codingPath: [any CodingKey]

    func decodeNil() -> Bool { values.isNil(at: codingPath) }
    func decode(_ type: Bool.Type) -> Bool { values.bool() }
    func decode(_ type: String.Type) -> String { values.string() }
    func decode(_ type: Double.Type) -> Double { values.double() }
    func decode(_ type: Float.Type) -> Float { values.float() }
    func decode(_ type: Int.Type) -> Int { values.integer() }
    func decode(_ type: Int8.Type) -> Int8 { values.integer() }
    func decode(_ type: Int16.Type) -> Int16 { values.integer() }
    func decode(_ type: Int32.Type) -> Int32 { values.integer() }
    func decode(_ type: Int64.Type) -> Int64 { values.integer() }
    func decode(_ type: UInt.Type) -> UInt { values.integer() }
    func decode(_ type: UInt8.Type) -> UInt8 { values.integer() }
    func decode(_ type: UInt16.Type) -> UInt16 { values.integer() }
    func decode(_ type: UInt32.Type) -> UInt32 { values.integer() }
    func decode(_ type: UInt64.Type) -> UInt64 { values.integer() }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try values.value(type, at: codingPath) }
}
