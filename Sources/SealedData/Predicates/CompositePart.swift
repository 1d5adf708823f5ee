import Foundation
import Guarded
import ObjectGraph

/// A stored property of a `Codable` type, as it stands in the JSON text of a value.
///
/// What name a property has there is up to the type's coding keys, and how its value is written to its coding, neither of
/// which Swift tells. They are found by trying: values made up by a ``ProbeDecoder`` are encoded, and the property is where
/// its value is found each time.
struct CompositePart {
    let name: String
    let type: AttributeType

    private static let cache = Guarded<[AnyKeyPathKey: CompositePart?]>([:])

    /// The part that a key path leads to; nil where it leads to none, or to one whose form is not known.
    static func part<Root, Part>(at keyPath: KeyPath<Root, Part>) -> CompositePart? {
        let key = AnyKeyPathKey(keyPath)
        if let known = cache.withLock({ $0[key] }) { return known }
        let part = find(keyPath)
        cache.withLock { $0[key] = .some(part) }
        return part
    }

    private static func find<Root, Part>(_ keyPath: KeyPath<Root, Part>) -> CompositePart? {
        guard let root = Root.self as? any (Decodable & Encodable).Type, let type = type(of: Part.self) else {
            return nil
        }
        return name(at: keyPath, in: root, as: type).map { CompositePart(name: $0, type: type) }
    }

    /// The type that the values of a Swift type have as parts; nil where they are no parts.
    static func type(of swiftType: any Any.Type) -> AttributeType? {
        guard case .attribute(let type)? = PropertyKind(of: swiftType) else { return nil }
        let swiftType = PropertyKind.unwrapped(swiftType)
        if type == .composite || swiftType is any StorableValue.Type { return type }
        // A raw value may be written in another form.
        guard let cases = swiftType as? any CaseIterable.Type else { return type }
        return areWrittenPlainly(cases, as: type) ? type : nil
    }

    // MARK: Trying

    /// Values that are too much alike, as the two of `Bool` are, are told apart by further tries.
    private static let tryCount = 12

    private static func name<Root, Part, Whole: Decodable & Encodable>(
        at keyPath: KeyPath<Root, Part>,
        in type: Whole.Type,
        as partType: AttributeType
    ) -> String? {
        var names: Set<String>?
        for seed in 0..<tryCount {
            guard let whole = try? Whole(from: ProbeDecoder(seed: seed)), let root = whole as? Root,
                let text = try? CompositeAttribute(whole).encodedText(),
                let parts = try? JSONDecoder().decode([String: JSONValue].self, from: Data(text.utf8)),
                let expected = value(of: root[keyPath: keyPath], as: partType)
            else { return nil }
            let json = JSONText(text)
            let found = parts.keys.filter { json.value(at: [.name($0)], as: partType) == expected }
            names = names.map { $0.intersection(found) } ?? Set(found)
        }
        guard let names, names.count == 1 else { return nil }
        return names.first
    }

    private static func areWrittenPlainly<Cases: CaseIterable>(_ type: Cases.Type, as attributeType: AttributeType)
        -> Bool
    {
        Cases.allCases.prefix(1).allSatisfy { encoded($0, readAs: attributeType) == queryLiteral(of: $0) }
    }

    /// The value of a part, as it has to be found.
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

/// A key path as the key of a cache.
struct AnyKeyPathKey: Hashable, @unchecked Sendable {
    // Sound because key paths are immutable.
    let keyPath: AnyKeyPath

    init(_ keyPath: AnyKeyPath) {
        self.keyPath = keyPath
    }
}
