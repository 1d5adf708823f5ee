import Foundation
import ObjectGraph

/// The destination of a key path of a model, as a column of a query.
struct ColumnPath {
    private var properties: [Property] = []

    /// - Throws: ``SwiftDataError/unsupportedKeyPath`` unless the path leads through to-one relationships to a
    ///   persisted property of a basic type, or to a model.
    init(_ keyPath: AnyKeyPath, of model: any PersistentModel.Type, entity: Entity) throws {
        if !isIdentifier(keyPath, of: model) {
            let slots =
                PropertyLookup.slot(of: keyPath, in: model).map { [$0] }
                ?? PropertyPath.slots(along: keyPath, of: model)
            guard let slots else {
                throw SwiftDataError(.unsupportedKeyPath, "'\(keyPath)' is not a path of persisted properties")
            }
            var entity = entity
            for slot in slots {
                guard slot < entity.slotCount else {
                    throw SwiftDataError(
                        .unknownSchema,
                        "entity '\(entity.name)' does not have all properties of '\(keyPath)'"
                    )
                }
                properties.append(entity.properties[slot])
                if case .relationship(let relationship) = entity.properties[slot] { entity = relationship.destination }
            }
        }
        switch properties.last {
        case .relationship(let relationship)? where relationship.isToMany:
            throw SwiftDataError(.unsupportedKeyPath, "'\(relationship.name)' is a to-many relationship")
        case .attribute(let attribute)?
        where attribute.type == .composite || PropertyKind(of: type(of: keyPath).valueType) == nil:
            throw SwiftDataError(.unsupportedKeyPath, "'\(attribute.name)' is not of a basic type")
        default: break
        }
    }

    /// The column as a query expression.
    var expression: QueryExpression { properties.isEmpty ? .variable(0) : .path(from: 0, properties) }

    /// The entity of the models that the path leads to; nil if it leads to values.
    var destination: Entity? {
        if case .relationship(let relationship)? = properties.last { relationship.destination } else { nil }
    }
}

/// Returns the Swift value of a column; nil if the column's value has another type.
func columnValue<T>(_ value: Value, as type: T.Type) -> T? {
    switch type {
    case let optional as any OptionalColumn.Type: optional.columnValue(value) as? T
    case let storable as any StorableValue.Type: storable.init(storedValue: value) as? T
    case let raw as any RawRepresentable.Type: rawColumnValue(value, as: raw) as? T
    default: nil
    }
}

private func rawColumnValue<Raw: RawRepresentable>(_ value: Value, as type: Raw.Type) -> Raw? {
    columnValue(value, as: Raw.RawValue.self).flatMap(Raw.init)
}

private protocol OptionalColumn {
    static func columnValue(_ value: Value) -> Any?
}

extension Optional: OptionalColumn {
    fileprivate static func columnValue(_ value: Value) -> Any? {
        if value.isNull { return Self.none as Any }
        return SealedData.columnValue(value, as: Wrapped.self).map { Self.some($0) as Any }
    }
}
