import Foundation
import Guarded
import ObjectGraph

/// A stored property of a `Codable` type in the JSON text of a value.
///
/// The coding keys of the type determine the name of the property, and `encode(to:)` the form of its value. Swift
/// exposes neither. They are found by experiment: generated values, see ``ProbeValues``, are encoded, and the name of
/// the property is the name of its value in each text.
struct CompositePart {
    let name: String
    let type: AttributeType
    /// The type of the property.
    let swiftType: any Any.Type

    private enum Key: Hashable {
        case keyPath(AnyKeyPathKey)
        case offset(ObjectIdentifier, Int)
    }

    private static let cache = Guarded<[Key: CompositePart?]>([:])

    /// Returns the part at a key path; nil if the path leads to no part, or the form of the part is unknown.
    static func part<Root, Part>(at keyPath: KeyPath<Root, Part>) -> CompositePart? {
        cached(.keyPath(AnyKeyPathKey(keyPath))) { find(Part.self, in: Root.self) { $0[keyPath: keyPath] } }
    }

    /// Returns the part at an offset of a type; nil if the type has no part there, or the form of the part is unknown.
    static func part(at offset: Int, in root: any Any.Type) -> CompositePart? {
        func find<Root>(_ root: Root.Type) -> CompositePart? {
            guard let property = StoredProperties(of: root)?.property(at: offset) else { return nil }
            func find<Part>(_ part: Part.Type) -> CompositePart? {
                Self.find(part, in: root) { property.value(of: $0) as? Part }
            }
            return _openExistential(property.type, do: find)
        }
        return cached(.offset(ObjectIdentifier(root), offset)) { _openExistential(root, do: find) }
    }

    private static func cached(_ key: Key, _ find: () -> CompositePart?) -> CompositePart? {
        if let known = cache.withLock({ $0[key] }) { return known }
        // Outside the lock: encoding runs code of the program.
        let part = find()
        cache.withLock { $0[key] = .some(part) }
        return part
    }

    private static func find<Root, Part>(
        _ part: Part.Type,
        in root: Root.Type,
        _ value: (Root) -> Part?
    ) -> CompositePart? {
        guard let whole = root as? any (Decodable & Encodable).Type, let type = type(of: part) else { return nil }
        let name = name(in: whole) { whole in
            (whole as? Root).flatMap(value).flatMap { Self.value(of: $0, as: type) }
        } found: { json, name in
            json.value(at: [.name(name)], as: type)
        }
        return name.map { CompositePart(name: $0, type: type, swiftType: part) }
    }

    /// Returns the attribute type of parts of a Swift type; nil if its values are not parts.
    static func type(of swiftType: any Any.Type) -> AttributeType? {
        guard case .attribute(let type)? = PropertyKind(of: swiftType) else { return nil }
        let swiftType = PropertyKind.unwrapped(swiftType)
        if type == .composite || swiftType is any StorableValue.Type { return type }
        // A raw value can be encoded in another form.
        guard let raw = swiftType as? any RawRepresentable.Type else { return type }
        return areWrittenPlainly(raw, as: type) ? type : nil
    }

    // MARK: Experiments

    /// The number of attempts. Types with few values, such as `Bool`, need several until the values differ.
    private static let tryCount = 12

    /// Returns the name of a value in the JSON texts of all generated wholes.
    private static func name<Whole: Decodable & Encodable>(
        in type: Whole.Type,
        _ value: (Any) -> Value?,
        found: (JSONText, String) -> Value
    ) -> String? {
        var names: Set<String>?
        for seed in 0..<tryCount {
            guard let whole = try? ProbeValues(seed: seed).value(type, at: []), let expected = value(whole),
                let text = try? CompositeAttribute(whole).encodedText(),
                let parts = try? JSONDecoder().decode([String: JSONValue].self, from: Data(text.utf8))
            else { return nil }
            let json = JSONText(text)
            let found = parts.keys.filter { found(json, $0) == expected }
            names = names.map { $0.intersection(found) } ?? Set(found)
        }
        guard let names, names.count == 1 else { return nil }
        return names.first
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
/// `@unchecked Sendable`: key paths are immutable, and this one is only compared, hashed and resolved to properties.
/// The standard library does not mark key paths as `Sendable`, because a subscript can capture a value that is not.
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
