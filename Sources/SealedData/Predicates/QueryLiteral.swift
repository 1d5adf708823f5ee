import Foundation
import ObjectGraph

/// A captured value that a predicate compares an attribute with.
protocol QueryLiteralConvertible {
    /// The value as it stands in a store; nil where it is no attribute's value.
    var queryValue: Value? { get }
}

/// A captured value that stands for an object: a model or its identifier.
protocol QueryObjectConvertible {
    /// The primary key; nil where it is not that of an object of the entity's inheritance.
    func queryKey(in entity: Entity) -> Int64?
}

extension QueryLiteralConvertible where Self: StorableValue {
    var queryValue: Value? { storedValue }
}

extension Int: QueryLiteralConvertible {}
extension Int8: QueryLiteralConvertible {}
extension Int16: QueryLiteralConvertible {}
extension Int32: QueryLiteralConvertible {}
extension Int64: QueryLiteralConvertible {}
extension UInt: QueryLiteralConvertible {}
extension UInt8: QueryLiteralConvertible {}
extension UInt16: QueryLiteralConvertible {}
extension UInt32: QueryLiteralConvertible {}
extension UInt64: QueryLiteralConvertible {}
extension Bool: QueryLiteralConvertible {}
extension Float: QueryLiteralConvertible {}
extension Double: QueryLiteralConvertible {}
extension Decimal: QueryLiteralConvertible {}
extension String: QueryLiteralConvertible {}
extension Date: QueryLiteralConvertible {}
extension UUID: QueryLiteralConvertible {}
extension URL: QueryLiteralConvertible {}
extension Data: QueryLiteralConvertible {}

extension Optional: QueryLiteralConvertible {
    var queryValue: Value? {
        switch self {
        case nil: .null
        case let value?: queryLiteral(of: value)
        }
    }
}

/// The form that a value has in a store: that of an attribute's type, or the raw value of an enum; nil for others.
func queryLiteral<T>(of value: T) -> Value? {
    if let value = value as? any QueryLiteralConvertible { return value.queryValue }
    if let value = value as? any RawRepresentable { return rawQueryLiteral(of: value) }
    return nil
}

private func rawQueryLiteral<T: RawRepresentable>(of value: T) -> Value? {
    queryLiteral(of: value.rawValue)
}

/// The key of a captured model or identifier, or nil where it stands for no object of the entity's inheritance.
///
/// - Throws: ``UnsupportedPredicate`` where the value is neither.
func queryKey(of constant: Constant, in entity: Entity) throws -> Int64? {
    if let value = constant.value as? any QueryObjectConvertible { return value.queryKey(in: entity) }
    if let object = constant.value as? any GraphObject { return object.queryKey(in: entity) }
    throw UnsupportedPredicate("a comparison of an object with a captured '\(type(of: constant.value))'")
}

extension GraphObject {
    fileprivate func queryKey(in entity: Entity) -> Int64? {
        let id = managedObjectID
        return entity.inheritance.contains { $0.name == id.entity.name } ? id.key : nil
    }
}

extension PersistentIdentifier: QueryObjectConvertible {
    func queryKey(in entity: Entity) -> Int64? {
        guard entity.inheritance.contains(where: { $0.name == entityName }) else { return nil }
        if let table = PrimaryKeyTable.table(of: self) { return table.key(for: self, in: entity) }
        return if case .number(let number) = key { number } else { nil }
    }
}

extension Entity {
    /// All entities with a common ancestor, this one included.
    fileprivate var inheritance: [Entity] { superentity?.inheritance ?? family }
}
