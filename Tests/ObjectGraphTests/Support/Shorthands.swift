import Foundation
import ObjectGraph
@_exported public import TestSupport
import Testing

// Short forms of the calls that most tests make.

extension ManagedObjectContext {
    @discardableResult
    func make(_ entity: String, _ values: [String: Value] = [:]) -> ManagedObject {
        let object = ManagedObject.make(model, entity, values)
        insert(object)
        return object
    }

    func request(
        _ entity: String,
        where predicate: QueryExpression? = nil,
        sortedBy sort: [QuerySort] = []
    ) -> FetchRequest {
        FetchRequest(model.entitiesByName[entity]!, predicate: predicate, sort: sort)
    }

    func all(
        _ entity: String,
        where predicate: QueryExpression? = nil,
        sortedBy sort: [QuerySort] = []
    ) throws -> [ManagedObject] {
        try fetch(request(entity, where: predicate, sortedBy: sort))
    }

    func one(_ entity: String, where predicate: QueryExpression? = nil) throws -> ManagedObject {
        let found = try all(entity, where: predicate)
        try #require(found.count == 1, "there are \(found.count) objects of \(entity)")
        return found[0]
    }

    /// This context's object for an object of another context.
    func counterpart(of object: ManagedObject) throws -> ManagedObject {
        try #require(try existingObject(with: object.managedObjectID) as? ManagedObject)
    }
}

extension ManagedObject {
    static func make(_ model: ManagedObjectModel, _ entity: String, _ values: [String: Value] = [:]) -> ManagedObject {
        let object = ManagedObject(entity: model.entitiesByName[entity]!, insertInto: nil)
        for (name, value) in values { object[name] = value }
        return object
    }

    subscript(one name: String) -> ManagedObject? {
        get { destination(forRelationship: name) as? ManagedObject }
        set { setDestination(newValue, forRelationship: name) }
    }

    subscript(many name: String) -> [ManagedObject] {
        get { members(forRelationship: name).map { $0 as! ManagedObject } }
        set { setMembers(newValue.map { $0 as any GraphObject }, forRelationship: name) }
    }

    /// The text of an attribute, or "".
    func text(_ name: String) -> String { if case .text(let text) = self[name] { text } else { "" } }
}

extension Array where Element: ManagedObject {
    /// The texts of an attribute.
    func texts(_ name: String) -> [String] { map { $0.text(name) } }

    /// The names, for objects whose order does not matter.
    var names: Set<String> { Set(texts("name")) }
}

/// Whether both lists hold the same objects in the same order.
func === (left: [ManagedObject?], right: [ManagedObject?]) -> Bool {
    left.elementsEqual(right) { $0 === $1 }
}

func == (left: QueryExpression, right: Value) -> QueryExpression { .comparison(.equal, left, .literal(right)) }
func != (left: QueryExpression, right: Value) -> QueryExpression { .comparison(.notEqual, left, .literal(right)) }
func < (left: QueryExpression, right: Value) -> QueryExpression { .comparison(.less, left, .literal(right)) }
func > (left: QueryExpression, right: Value) -> QueryExpression { .comparison(.greater, left, .literal(right)) }
