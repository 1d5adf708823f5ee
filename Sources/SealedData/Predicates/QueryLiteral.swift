import Foundation
import ObjectGraph

/// A captured value that is compared with an attribute.
protocol QueryLiteralConvertible {
    /// The stored form; nil if the value is not an attribute's value.
    var queryValue: Value? { get }
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
extension CGFloat: QueryLiteralConvertible {}
#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
    extension Float16: QueryLiteralConvertible {}
#endif
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

/// Returns the stored form of a value: of an attribute type, or of a raw value; nil for other values.
func queryLiteral<T>(of value: T) -> Value? {
    if let value = value as? any QueryLiteralConvertible { return value.queryValue }
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
