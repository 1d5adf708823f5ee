import Foundation
import Guarded
import ObjectGraph

/// A stored property of a `Codable` type in the JSON text of a value, or of a value in that value.
///
/// The coding keys of the types determine the names of the properties, and `encode(to:)` the form of their values.
/// Swift exposes neither. They are found by experiment: generated values, see ``ProbeValues``, are encoded, and the
/// property has the names under which each text contains its value.
struct CompositePart {
    /// The names in the objects of the text, the outermost first.
    let names: [String]
    let type: AttributeType

    private static let cache = Guarded(BoundedCache<AnyKeyPathKey, CompositePart?>(limit: 512))

    /// Returns the part at a key path; nil if the path leads to no part, or the form of the part is unknown.
    static func part<Root, Part>(at keyPath: KeyPath<Root, Part>) -> CompositePart? {
        cache.value(for: AnyKeyPathKey(keyPath)) { find(keyPath) }
    }

    private static func find<Root, Part>(_ keyPath: KeyPath<Root, Part>) -> CompositePart? {
        guard let root = Root.self as? any (Decodable & Encodable).Type, let type = type(of: Part.self) else {
            return nil
        }
        let names = names(in: root, depth: 1, as: type) { whole in
            (whole as? Root).flatMap { value(of: $0[keyPath: keyPath], as: type) }
        }
        return names.map { CompositePart(names: $0, type: type) }
    }

    /// Returns the part of a value, or of values in that value, that a function reads; nil if the function reads no
    /// part, or the form of the part is unknown.
    ///
    /// - Parameters:
    ///   - whole: The type of the value; it may be optional.
    ///   - depth: The largest number of names.
    ///   - part: The type of the part.
    ///   - read: Returns the part of a generated value, which may have the suffix that sort descriptors append.
    static func part(
        in whole: any Any.Type,
        depth: Int,
        as part: any Any.Type,
        _ read: (any CompositeValue) -> Any?
    ) -> CompositePart? {
        guard let whole = PropertyKind.unwrapped(whole) as? any (Decodable & Encodable).Type,
            let type = type(of: part)
        else { return nil }
        func composite<Whole: Decodable & Encodable>(_ value: Whole) -> any CompositeValue { CompositeAttribute(value) }
        let names = names(in: whole, depth: depth, as: type) { value in
            guard let value = value as? any (Decodable & Encodable), let part = read(composite(value)) else {
                return nil
            }
            return type == .composite
                ? CompositeEquality.encodedText(of: part).map(Value.text) : sortedLiteral(of: part)
        }
        return names.map { CompositePart(names: $0, type: type) }
    }

    /// Returns the attribute type of parts of a Swift type; nil if its values are not parts.
    static func type(of swiftType: any Any.Type) -> AttributeType? {
        guard case .attribute(let type)? = PropertyKind(of: swiftType) else { return nil }
        // The text of the part is compared.
        guard type.facts.isPlainInJSON else { return .composite }
        let swiftType = PropertyKind.unwrapped(swiftType)
        if type == .composite || swiftType is any StorableValue.Type { return type }
        // A raw value can be encoded in another form.
        guard let raw = swiftType as? any RawRepresentable.Type else { return type }
        return areWrittenPlainly(raw, as: type) ? type : nil
    }

    // MARK: Experiments

    /// The number of attempts. Types with few values, such as `Bool`, need several until the values differ.
    private static let tryCount = 12

    /// Returns the names of a value in the JSON texts of all generated wholes.
    private static func names<Whole: Decodable & Encodable>(
        in type: Whole.Type,
        depth: Int,
        as partType: AttributeType,
        _ value: (Any) -> Value?
    ) -> [String]? {
        var names: Set<[String]>?
        for seed in 0..<tryCount {
            guard let whole = try? ProbeValues(seed: seed).value(type, at: []), let expected = value(whole),
                !expected.isNull, let text = try? CompositeAttribute(whole).encodedText(),
                case .object(let parts)? = try? JSONValue(text: text)
            else { return nil }
            let json = JSONText(text)
            let found = paths(in: parts, depth: depth).filter {
                json.value(at: $0.map(ComponentKey.name), as: partType) == expected
            }
            names = names.map { $0.intersection(found) } ?? Set(found)
        }
        guard let names, names.count == 1 else { return nil }
        return names.first
    }

    /// Returns the names of all values in an object, and in the objects in it.
    private static func paths(in object: [String: JSONValue], depth: Int) -> [[String]] {
        object.flatMap { name, value in
            guard depth > 1, case .object(let parts) = value else { return [[name]] }
            return [[name]] + paths(in: parts, depth: depth - 1).map { [name] + $0 }
        }
    }

    private static func areWrittenPlainly<Raw: RawRepresentable>(_ type: Raw.Type, as attributeType: AttributeType)
        -> Bool
    {
        type.samples.values.prefix(2).allSatisfy { encoded($0, readAs: attributeType) == queryLiteral(of: $0) }
    }

    /// The expected value of a part.
    private static func value<Part>(of part: Part, as type: AttributeType) -> Value? {
        type == .composite ? encoded(part, readAs: type) : queryLiteral(of: part)
    }

    private static func encoded<Part>(_ part: Part, readAs type: AttributeType) -> Value? {
        guard let part = part as? any (Decodable & Encodable), let list = encodedList(of: part) else { return nil }
        return JSONText(list).value(at: [.index(0)], as: type)
    }

    private static func encodedList<Part: Decodable & Encodable>(of part: Part) -> String? {
        try? CompositeAttribute([part]).encodedText()
    }
}

/// A key path that threads can share, for example as the key of a cache.
///
/// `@unchecked Sendable`: key paths are immutable, and this key path is only compared, hashed and resolved to
/// properties. The standard library does not mark key paths as `Sendable`, because a subscript can capture a value that
/// is not.
struct AnyKeyPathKey: Hashable, @unchecked Sendable {
    let keyPath: AnyKeyPath

    init(_ keyPath: AnyKeyPath) {
        self.keyPath = keyPath
    }

    static func == (left: AnyKeyPathKey, right: AnyKeyPathKey) -> Bool {
        if left.keyPath === right.keyPath { return true }
        // Swift can consider the key paths of requirements of two protocols equal.
        return left.keyPath == right.keyPath && KeyPathParts(left.keyPath)?.parts == KeyPathParts(right.keyPath)?.parts
    }

    func hash(into hasher: inout Hasher) { hasher.combine(keyPath) }
}
