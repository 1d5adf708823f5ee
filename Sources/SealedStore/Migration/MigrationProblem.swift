public import ObjectGraph

/// A reason why a store cannot be migrated: rows with data that the new model does not hold. It never contains a value.
public struct MigrationProblem: Hashable, Sendable {
    /// The kinds of problem.
    public enum Kind: Hashable, Sendable {
        /// The attribute changes its type, and values do not convert exactly.
        case notConvertible(from: AttributeType, to: AttributeType)
        /// The property requires a value and has no default value, and rows have no value.
        case missingValue
        /// Rows have negative zero in the attribute. A table marks negative zero for 31 floating-point attributes, and
        /// the attribute is not one of them.
        case negativeZero
        /// The property changes from an attribute to a relationship or the reverse, and rows have a value.
        case otherKind
        /// The entity becomes abstract, and has objects.
        case abstractEntity
        /// The relationship becomes to-one, and objects have several members.
        case severalMembers
        /// Members of the relationship are not of its new destination, the entity of this name.
        case foreignMembers(destination: String)
        /// The properties become unique together, and several rows have the same values.
        case duplicates(properties: [String])
        /// Several hierarchies become one, and the keys of their rows would exceed 64 bits.
        case exhaustedKeys
        /// The new model does not have the entity or the property, which has data. The data cannot be set aside,
        /// because the new model uses the name for another declaration, or no longer has the hierarchy or the inverse
        /// to which the declaration belongs.
        case lost
    }

    /// The name of the entity in the new model, or in the old model for ``Kind-swift.enum/lost``.
    public let entity: String
    /// The name of the property in the same model; nil for a problem of the whole entity.
    public let property: String?
    /// The rule that the rows violate.
    public let kind: Kind
    /// The number of rows that violate the rule.
    public let rows: Int

    /// Creates a problem.
    public init(entity: String, property: String?, kind: Kind, rows: Int) {
        self.entity = entity
        self.property = property
        self.kind = kind
        self.rows = rows
    }
}

extension MigrationProblem {
    /// Whether the problem also prevents that the store is read with the new model, without a migration.
    var preventsReading: Bool {
        switch kind {
        case .duplicates, .lost: false
        default: true
        }
    }
}

extension MigrationProblem: CustomStringConvertible {
    /// Entity, property, rule and number of rows.
    public var description: String {
        let place =
            switch (kind, property) {
            case (.duplicates(let properties), _): properties.map { "\(entity).\($0)" }.joined(separator: " + ")
            case (_, let property?): "\(entity).\(property)"
            case (_, nil): entity
            }
        let rule =
            switch kind {
            case .notConvertible(let from, let to): "not exactly convertible from \(from.rawValue) to \(to.rawValue)"
            case .negativeZero: "negative zero, which a table stores for 31 floating-point attributes only"
            case .missingValue: "no value for a required property without a default value"
            case .otherKind: "a value that does not convert between an attribute and a relationship"
            case .abstractEntity: "objects of an entity that becomes abstract"
            case .severalMembers: "several members of a relationship that becomes to-one"
            case .foreignMembers(let destination): "members that are not of the entity '\(destination)'"
            case .duplicates: "the same values as another row in properties that become unique"
            case .exhaustedKeys: "keys that exceed 64 bits"
            case .lost:
                "data that the model has no place for, and that cannot be set aside: a migration plan can remove it"
            }
        return "\(place): \(rule) (\(rows) row(s))"
    }
}
