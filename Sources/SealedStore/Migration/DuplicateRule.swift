import Foundation
import ObjectGraph

/// A rule by which a migration resolves the duplicates of a uniqueness constraint that the new model adds.
///
/// The objects of an entity with the same unique values form a group. The first object of each group in the order of
/// ``sort`` is kept, with its attributes; the other objects of the group are deleted in the transaction of the
/// migration. Without a rule, duplicates are a ``MigrationProblem/Kind-swift.enum/duplicates(properties:)``, and the
/// store is not migrated. For other ways to resolve duplicates, a ``StoreMigrationStage`` runs code before the
/// constraint is added.
public struct DuplicateRule: Hashable, Sendable {
    /// An attribute by which the objects of a group are ordered.
    public struct SortKey: Hashable, Sendable {
        /// The name of the attribute in the new model.
        public var attribute: String
        /// Whether the order is ascending. Null is smaller than every value.
        public var ascending: Bool

        /// Creates a sort key.
        public init(_ attribute: String, ascending: Bool = true) {
            self.attribute = attribute
            self.ascending = ascending
        }
    }

    /// What happens to the relationships of the objects that are deleted.
    public enum Relationships: String, Hashable, Sendable {
        /// References to a deleted object lead to the kept object. The kept object gets the members of to-many
        /// relationships, and the destinations of to-one relationships in which it has none. The delete rules apply to
        /// the remaining destinations.
        case moveToKeptObject
        /// The delete rules apply, as to every deleted object.
        case applyDeleteRules
    }

    /// The name of the entity in the new model that declares the uniqueness constraint.
    public var entity: String
    /// The order of the objects of a group. Objects that are equal in it are ordered by their insertion: by their
    /// global identifiers, if the store has any, so that stores that exchange their changes keep the same object, and
    /// by their primary keys otherwise.
    public var sort: [SortKey]
    /// Whether, among objects that are equal in ``sort``, the object that was inserted last comes first.
    public var keepsLastInserted: Bool
    /// What happens to the relationships of the objects that are deleted.
    public var relationships: Relationships

    /// Creates a rule. Without sort keys, it keeps the object that was inserted first.
    public init(
        entity: String,
        sort: [SortKey] = [],
        keepsLastInserted: Bool = false,
        relationships: Relationships = .moveToKeptObject
    ) {
        self.entity = entity
        self.sort = sort
        self.keepsLastInserted = keepsLastInserted
        self.relationships = relationships
    }

    /// The sort keys of a fetch; nil if the entity does not have the attributes.
    func querySort(of entity: Entity) -> [QuerySort]? {
        attributeSort(of: entity).map { $0 + (keepsLastInserted ? [QuerySort(.variable(0), ascending: false)] : []) }
    }

    /// The sort keys of ``sort``; nil if the entity does not have the attributes.
    private func attributeSort(of entity: Entity) -> [QuerySort]? {
        let keys = sort.compactMap { key in
            entity.attribute(named: key.attribute).map { QuerySort(.path(.attribute($0)), ascending: key.ascending) }
        }
        return keys.count == sort.count ? keys : nil
    }

    /// The object to keep of a group of objects, given in the order of ``querySort(of:)``.
    func keptObject(
        of objects: [ManagedObject],
        _ entity: Entity,
        identifier: (ManagedObject) throws -> UUID?
    ) throws -> ManagedObject? {
        guard let first = objects.first, let sort = attributeSort(of: entity),
            var keptName = try identifier(first)?.uuidString
        else { return objects.first }
        var kept = first
        let evaluator = QueryEvaluator()
        let values = { (object: ManagedObject) in try sort.map { try evaluator.value($0.expression, for: object) } }
        let firstValues = try values(first)
        for object in objects.dropFirst() {
            let others = try values(object)
            let isEqual = zip(sort, zip(firstValues, others)).allSatisfy { $0.precedes($1.0, $1.1) == nil }
            guard isEqual, let name = try identifier(object)?.uuidString else { break }
            if keepsLastInserted ? name > keptName : name < keptName { (kept, keptName) = (object, name) }
        }
        return kept
    }
}

extension [DuplicateRule] {
    /// The first rule for an entity whose sort attributes the entity has; nil if there is none.
    func rule(for entity: Entity) -> DuplicateRule? {
        first { $0.entity == entity.name && $0.querySort(of: entity) != nil }
    }

    /// Whether a rule resolves a problem.
    func resolve(_ problem: MigrationProblem, in model: ManagedObjectModel) -> Bool {
        guard case .duplicates = problem.kind, let entity = model.entitiesByName[problem.entity] else { return false }
        return rule(for: entity) != nil
    }
}
