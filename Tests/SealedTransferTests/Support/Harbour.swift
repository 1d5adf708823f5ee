import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import TestSupport

/// A model with an attribute of each type, and a relationship of each kind.
enum Harbour {
    static let key = EncryptionKey.ofTests

    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Vessel",
                attributes: [
                    AttributeDescription("name", .string),
                    AttributeDescription("int8", .int8, isOptional: true),
                    AttributeDescription("int16", .int16, isOptional: true),
                    AttributeDescription("int32", .int32, isOptional: true),
                    AttributeDescription("int64", .int64, isOptional: true),
                    AttributeDescription("uint8", .uint8, isOptional: true),
                    AttributeDescription("uint16", .uint16, isOptional: true),
                    AttributeDescription("uint32", .uint32, isOptional: true),
                    AttributeDescription("uint64", .uint64, isOptional: true),
                    AttributeDescription("bool", .bool, isOptional: true),
                    AttributeDescription("float", .float, isOptional: true),
                    AttributeDescription("double", .double, isOptional: true),
                    AttributeDescription("decimal", .decimal, isOptional: true),
                    AttributeDescription("text", .string, isOptional: true),
                    AttributeDescription("date", .date, isOptional: true),
                    AttributeDescription("uuid", .uuid, isOptional: true),
                    AttributeDescription("url", .url, isOptional: true),
                    AttributeDescription("data", .data, isOptional: true),
                    AttributeDescription("photo", .data, isOptional: true, allowsExternalStorage: true),
                    AttributeDescription("composite", .composite, isOptional: true),
                ],
                relationships: [
                    RelationshipDescription("captain", to: "Person", .one, inverse: "command"),
                    RelationshipDescription("crew", to: "Person", .many, inverse: "vessel"),
                    RelationshipDescription("passengers", to: "Person", .many, inverse: "bookings", isOrdered: true),
                    RelationshipDescription("flags", to: "Flag", .many),
                    RelationshipDescription("consorts", to: "Vessel", .many, inverse: "consorts"),
                ],
                uniquenessConstraints: [["name"]]
            ),
            EntityDescription(
                "Ferry",
                superentity: "Vessel",
                attributes: [AttributeDescription("line", .string, isOptional: true)],
                relationships: [
                    RelationshipDescription("ports", to: "Port", .many, inverse: "ferries", isOrdered: true)
                ]
            ),
            EntityDescription(
                "Person",
                attributes: [AttributeDescription("name", .string)],
                relationships: [
                    RelationshipDescription("command", to: "Vessel", .one, inverse: "captain"),
                    RelationshipDescription("vessel", to: "Vessel", .one, inverse: "crew"),
                    RelationshipDescription("bookings", to: "Vessel", .many, inverse: "passengers"),
                    RelationshipDescription("friend", to: "Person", .one),
                    RelationshipDescription("children", to: "Person", .many, inverse: "parent", isOrdered: true),
                    RelationshipDescription("parent", to: "Person", .one, inverse: "children"),
                ]
            ),
            EntityDescription("Flag", attributes: [AttributeDescription("code", .string)]),
            EntityDescription(
                "Port",
                attributes: [AttributeDescription("name", .string)],
                relationships: [
                    RelationshipDescription("ferries", to: "Ferry", .many, inverse: "ports", isOrdered: true),
                    RelationshipDescription("home", to: "Vessel", .one, isOptional: false),
                ]
            ),
        ])
    }

    /// Writes random objects into a new store.
    static func fill(_ store: TestStore, count: Int, _ generator: inout SeededGenerator) throws {
        let context = store.context
        let model = context.model
        func insert(_ entity: String) -> ManagedObject {
            ManagedObject(entity: model.entitiesByName[entity]!, insertInto: context)
        }
        var values = RandomValues(generator)
        var vessels: [ManagedObject] = []
        var ferries: [ManagedObject] = []
        for index in 0..<count {
            let isFerry = index % 3 == 0
            let vessel = insert(isFerry ? "Ferry" : "Vessel")
            for attribute in vessel.managedObjectID.entity.attributes {
                vessel[attribute.name] = values.next(attribute.type)
            }
            vessel["name"] = .text("\(index) \(values.text())")
            if isFerry { ferries.append(vessel) }
            vessels.append(vessel)
        }
        let persons = (0..<count).map { _ in
            let person = insert("Person")
            person["name"] = .text(values.text())
            return person
        }
        let flags = (0..<5).map { index in
            let flag = insert("Flag")
            flag["code"] = .text("\(index)")
            return flag
        }
        generator = values.generator
        func some(_ objects: [ManagedObject]) -> [ManagedObject] {
            Array(objects.shuffled(using: &generator).prefix(Int.random(in: 0...4, using: &generator)))
        }
        let captains = persons.shuffled(using: &generator)
        for (index, vessel) in vessels.enumerated() {
            if generator.chance(60) { vessel.set(captains[index], for: "captain") }
            vessel.setMembers(some(persons), for: "passengers")
            vessel.setMembers(some(flags), for: "flags")
            vessel.setMembers(some(vessels), for: "consorts")
        }
        for person in persons {
            if generator.chance(60) { person.set(generator.pick(vessels), for: "vessel") }
            if generator.chance(60) { person.set(generator.pick(persons), for: "friend") }
        }
        for (index, person) in persons.enumerated() where generator.chance(40) {
            person.setMembers(some(Array(persons.dropFirst(index + 1))), for: "children")
        }
        for _ in 0..<4 {
            let port = insert("Port")
            port["name"] = .text("port")
            port.set(generator.pick(vessels), for: "home")
            port.setMembers(some(ferries), for: "ferries")
        }
        for ferry in ferries {
            ferry.setMembers(ferry.members(forRelationship: "ports").shuffled(using: &generator), for: "ports")
        }
        try context.save()
    }
}

/// Random values of all types, with the extremes among them.
struct RandomValues {
    var generator: SeededGenerator

    init(_ generator: SeededGenerator) {
        self.generator = generator
    }

    mutating func next(_ type: AttributeType) -> Value {
        if generator.chance(15) { return .null }
        switch type {
        case .bool: return .integer(generator.chance(50) ? 1 : 0)
        case .int8, .int16, .int32, .uint8, .uint16, .uint32:
            let range = type.integerRange!
            return .integer(
                generator.pick([range.lowerBound, range.upperBound, Int64.random(in: range, using: &generator)])!
            )
        case .int64, .uint64, .duration:
            return .integer(generator.pick([.min, .max, 0, -1, Int64.random(in: .min ... .max, using: &generator)])!)
        case .float:
            return .real(
                Double(
                    generator.pick([
                        Float.greatestFiniteMagnitude, .leastNonzeroMagnitude, 0.1, -.infinity,
                        Float(bitPattern: UInt32.random(in: 0..<0x7F80_0000, using: &generator)),
                    ])!
                )
            )
        case .double: return .real(double())
        case .date:
            let seconds = Double.random(in: -1e9...1e9, using: &generator)
            return .real(generator.pick([seconds, seconds.rounded(), double(), 0, -0.1, 1e-7, 63_113_904_000])!)
        case .decimal:
            let text = generator.pick([
                "0", "NaN", "-0.1", "12345678901234567890123456789012345678", "1e-120", "3e100", "-99.990",
            ])!
            return (text == "NaN" ? Decimal.nan : Decimal(string: text)!).storedValue
        case .string: return .text(text())
        case .uuid:
            return .uuid(
                UUID(
                    uuid: (
                        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8.random(in: 0...255, using: &generator)
                    )
                )
            )
        case .url: return .text(generator.pick(["https://example.org/a?b=c#d", "file:///tmp/x%20y", "mailto:a@b"])!)
        case .data:
            let count = generator.pick([0, 1, 2, 3, 100, 20_000])!
            return .blob(Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }))
        case .composite:
            return .text(
                generator.pick([
                    #"{"a":[1,2.50,{"b":null}],"ü":"\u00e9\n"}"#, "[]", "\"text\"", "null", " [1]",
                    "[1,\n2]",
                    #"{"_json":"x"}"#, #"{"_json":"x","y":1}"#, "1e400", #"{"a":1,"a":2}"#,
                ])!
            )
        }
    }

    mutating func text() -> String {
        generator.pick([
            "", "plain", "a,b", "\"quoted\"", "line\nbreak", "carriage\r\nreturn", "\u{0}\u{1}\u{7F}", "e\u{301}", "é",
            "😀",
            " spaces ", "\\ backslash /", "\u{2028}", "\u{FEFF}mark", "null", "12",
            String(repeating: "x", count: 5_000),
        ])!
    }

    private mutating func double() -> Double {
        generator.pick([
            0, -0.0, 0.1, .pi, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 1e22, 1e-5,
            -1e300,
            Double(bitPattern: UInt64.random(in: 0..<0x7FF0_0000_0000_0000, using: &generator)),
        ])!
    }
}
