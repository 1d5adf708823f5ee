import Foundation
import ObjectGraph

/// A captured `Optional` of any wrapped type.
private protocol CapturedOptional {
    var queryValue: Value? { get }
}

extension Optional: CapturedOptional {
    fileprivate var queryValue: Value? {
        switch self {
        case nil: .null
        case let value?: queryLiteral(of: value)
        }
    }
}

/// Returns the stored form of a value: of an attribute type, or of a raw value; nil for other values, and for a value
/// that its type refuses to store.
func queryLiteral<T>(of value: T) -> Value? {
    if let value = value as? any CapturedOptional { return value.queryValue }
    if let value = value as? any StorableValue { return try? value.storedValue }
    if let value = value as? any RawRepresentable { return rawQueryLiteral(of: value) }
    return nil
}

private func rawQueryLiteral<T: RawRepresentable>(of value: T) -> Value? {
    queryLiteral(of: value.rawValue)
}

/// Returns the key of a captured model or identifier; nil if its entity has no common ancestor with `entity`.
///
/// - Throws: ``UnsupportedPredicate`` for other values.
func queryKey(of constant: Constant, in entity: Entity) throws -> Int64? {
    switch constant.value {
    case let object as any PredicateObject: return object.predicateKey(in: entity)
    case let object as any GraphObject: return object.managedObjectID.predicateKey(in: entity)
    default:
        throw UnsupportedPredicate("a comparison of an object with a captured '\(type(of: constant.value))'")
    }
}

extension PersistentIdentifier {
    package func predicateKey(in entity: Entity) -> Int64? {
        guard entity.inheritance.contains(where: { $0.name == entityName }) else { return nil }
        if let table = PrimaryKeyTable.table(of: self) { return table.key(for: self, in: entity) }
        return if case .number(let number) = key { number } else { nil }
    }

    package var predicateEntityName: String { entityName }
}
