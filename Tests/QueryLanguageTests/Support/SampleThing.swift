import QueryLanguage
import TestSupport

/// An object of ``FormatFixtures`` with values in memory, for the evaluation of expressions.
final class SampleThing: QueryObject {
    let _$queryEntity: Entity
    let _$queryKey: Int64
    private var values: [String: Value] = [:]
    private var destinations: [String: SampleThing] = [:]
    private var members: [String: [SampleThing]] = [:]

    init(_ entity: String, key: Int64, _ values: [String: Value] = [:]) {
        _$queryEntity = FormatFixtures.model.entitiesByName[entity]!
        _$queryKey = key
        self.values = values
    }

    /// Adds an object to a to-many relationship, and this object to the inverse.
    func add(_ other: SampleThing, to name: String, inverse: String) {
        members[name, default: []].append(other)
        if other._$queryEntity.relationship(named: inverse)?.isToMany == true {
            other.members[inverse, default: []].append(self)
        } else {
            other.destinations[inverse] = self
        }
    }

    private func name(of slot: Int) -> String { _$queryEntity.properties[slot].name }

    func _$storedValue(at slot: Int) -> Value { values[name(of: slot)] ?? .null }
    func _$queryDestination(at slot: Int) -> (any QueryObject)? { destinations[name(of: slot)] }
    func _$queryMembers(at slot: Int) -> [any QueryObject] { members[name(of: slot)] ?? [] }

    /// Things with and without values, owners and tags.
    static func samples() -> [SampleThing] {
        let owners = [SampleThing("Person", key: 1, ["age": 1]), SampleThing("Person", key: 2)]
        let tags = (0..<3).map { SampleThing("Tag", key: Int64($0 + 1), $0 == 0 ? [:] : ["rank": .integer(Int64($0))]) }
        return (0..<12).map { number in
            let thing = SampleThing("Thing", key: Int64(number + 1))
            if number % 4 != 3 { thing.values["count"] = .integer(Int64(number % 4)) }
            if number % 3 != 2 { thing.values["isOld"] = .integer(Int64(number % 3)) }
            if number % 2 == 0 { thing.values["small"] = .integer(Int64(number / 2 % 2)) }
            if number % 5 < 2 { owners[number % 5].add(thing, to: "things", inverse: "owner") }
            for (position, tag) in tags.enumerated() where number >> position & 1 == 1 {
                thing.add(tag, to: "tags", inverse: "things")
            }
            return thing
        }
    }
}
