import EncryptedSQLite
package import ObjectGraph

/// Stored values of an attribute that the type of a program's property does not accept, such as the raw value of an
/// enumeration's case that was removed. The property reads as a substitute, and the context's next fetch or save
/// throws.
public struct UnreadableValues: Hashable, Sendable {
    /// The name of the entity that declares the attribute.
    public let entity: String
    /// The name of the attribute.
    public let property: String
    /// The number of rows with such a value.
    public let rows: Int
}

/// Returns a test whether the type of an attribute's property accepts a stored value; nil if it accepts all values.
package typealias ValueAcceptance = (_ attribute: Attribute, _ entity: Entity) -> ((Value) -> Bool)?

extension StoreReading {
    /// The values of the store that the properties do not accept after a conversion to the types of the program's
    /// model.
    ///
    /// - Complexity: O(*n* log *n*) in the number of rows for each attribute that does not accept all values.
    func unreadableValues(
        _ stored: StoreMetadataTable,
        _ acceptance: ValueAcceptance,
        on connection: Connection
    ) throws -> [UnreadableValues] {
        let mapping = ModelMapping(from: stored.model, to: own)
        let schema = StoreSchema(model: stored.model, names: stored.names, file: stored.union)
            .with(FileConditions(hasLargeValues: stored.hasLargeValues))
        var found: [UnreadableValues] = []
        for entity in own.entities {
            guard let oldEntity = mapping.old(of: entity) else { continue }
            for case .attribute(let attribute) in entity.properties where attribute.declaringEntityName == entity.name {
                guard let accepts = acceptance(attribute, entity),
                    case .attribute(let old)? = mapping.old(of: .attribute(attribute), in: entity),
                    // Values that do not convert are reported as problems of the migration.
                    let conversion = AttributeConversion(from: old.type, to: attribute.type)
                else { continue }
                let rows = try counts(of: old, in: oldEntity, schema, on: connection) { value in
                    conversion.convert(value).map { !accepts($0) } ?? false
                }
                if rows > 0 {
                    found.append(UnreadableValues(entity: entity.name, property: attribute.name, rows: rows))
                }
            }
        }
        return found
    }

    /// The number of rows with a value that satisfies a condition.
    private func counts(
        of attribute: Attribute,
        in entity: Entity,
        _ schema: StoreSchema,
        on connection: Connection,
        where condition: (Value) -> Bool
    ) throws -> Int {
        var generator = QueryGenerator(schema, root: entity)
        let path = QueryExpression.path(from: 0, [.attribute(attribute)])
        let value = try generator.value(path)
        let kind = try generator.condition(.isKind(from: 0, [], of: entity), mayBeNull: true)
        let sql = """
            SELECT \(value), count(*) \(generator.fromClause) WHERE \(kind) AND \(value) IS NOT NULL GROUP BY 1
            """
        return try connection.withUncachedStatement(sql) { row in
            try row.bind(generator.values)
            var rows = 0
            while try row.step() {
                if condition(row.value(at: 0)) { rows += Int(row.integer(at: 1)) }
            }
            return rows
        }
    }
}
