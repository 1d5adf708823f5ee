import ObjectGraph

/// The entities and properties that the tables of a store hold beside the model of a program.
final class AsideLayout: Sendable {
    /// The schema of everything that the tables hold.
    let schema: StoreSchema
    /// The relationships that the program does not have: relationships with a key, and canonical relationships with
    /// pairs.
    private let relationships: [Relationship]
    /// The names of the program's root entities.
    private let roots: Set<String>

    /// - Parameters:
    ///   - file: The model of the tables.
    ///   - model: The model of the program.
    ///   - names: The names in use.
    init(of file: ManagedObjectModel, beyond model: ManagedObjectModel, _ names: SchemaNames) {
        schema = StoreSchema(model: file, names: names)
        roots = Set(model.entities.filter(\.isRoot).map(\.name))
        relationships = file.relationships.filter { relationship in
            switch relationship.placement {
            case .sourceKey: model.relationship(like: relationship) == nil
            case .destinationKey: false
            case .joinTable(let isCanonical):
                isCanonical && model.relationship(like: relationship) == nil
                    && relationship.inverse.map { model.relationship(like: $0) == nil } ?? true
            }
        }
    }

    /// The root entities that the program does not have.
    var otherRoots: [Entity] { schema.model.entities.filter { $0.isRoot && !roots.contains($0.name) } }

    /// The tables of pairs that the program does not have.
    var otherPairs: [JoinTable] { relationships.compactMap { schema.joinTables[$0.index] } }

    // MARK: Subentities

    /// The numbers of the subentities that a program does not have, by the entity as whose objects it regards the rows:
    /// the nearest superentity that can have objects.
    static func adoptedCodes(of fileRoot: Entity, by root: Entity, _ names: SchemaNames) -> [Entity: [Int64]] {
        let known = Dictionary(root.family.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var codes: [Entity: [Int64]] = [:]
        for entity in fileRoot.family where known[entity.name] == nil && !entity.isAbstract {
            var next = entity.superentity
            while let superentity = next, known[superentity.name]?.isAbstract ?? true { next = superentity.superentity }
            guard let adopter = next.flatMap({ known[$0.name] }) else { continue }
            codes[adopter, default: []].append(names.code(of: entity))
        }
        return codes
    }

    // MARK: References to deleted objects

    /// The references to the objects of a root entity in relationships that the program does not have.
    struct Reference {
        let relationship: Relationship
        /// The column with the key of the deleted object, quoted.
        let column: String
        /// The table, quoted.
        let table: String
        /// Whether a row is a pair.
        let isPair: Bool

        /// Selects a row whose reference is required, for rows with a condition on ``column``; nil if references can be
        /// cleared.
        func finding(where condition: String) -> String? {
            isPair || relationship.isOptional ? nil : "SELECT 1 FROM \(table) WHERE \(condition) LIMIT 1"
        }

        /// The statement that clears the references. If the references are keys, it raises the versions of the rows,
        /// and returns their keys.
        func clearing(where condition: String) -> String {
            guard !isPair else { return "DELETE FROM \(table) WHERE \(condition)" }
            let version = VersionWord.increment(writing: [])
            return #"UPDATE \#(table) SET \#(column) = NULL, \#(version) WHERE \#(condition) RETURNING "_id""#
        }
    }

    /// The references to objects of a root entity.
    func references(to root: Entity) -> [Reference] {
        relationships.flatMap { relationship -> [Reference] in
            let isDestination = schema.model.root(of: relationship.destination).name == root.name
            if let pairs = schema.joinTables[relationship.index] {
                let isSource = schema.model.root(of: relationship.source).name == root.name
                return [(isSource, pairs.owner), (isDestination, pairs.member)].filter(\.0).map {
                    Reference(relationship: relationship, column: $1, table: pairs.name, isPair: true)
                }
            }
            guard isDestination else { return [] }
            let column = schema.keyColumn(of: relationship).name
            let table = schema.table(of: relationship.source).name
            return [Reference(relationship: relationship, column: column, table: table, isPair: false)]
        }
    }
}

extension ManagedObjectModel {
    /// The relationship with the names of another model's relationship.
    func relationship(like other: Relationship) -> Relationship? {
        guard case .relationship(let relationship)? = entitiesByName[other.source.name]?.propertiesByName[other.name],
            relationship.source.name == other.source.name
        else { return nil }
        return relationship
    }

    /// Whether the tables of the model have all that the tables of another model have.
    func includes(_ other: ManagedObjectModel) -> Bool {
        other.entities.allSatisfy { entity in
            guard let own = entitiesByName[entity.name], own.superentity?.name == entity.superentity?.name else {
                return false
            }
            return entity.properties.allSatisfy { property in
                guard let known = own.propertiesByName[property.name],
                    known.declaringEntityName == property.declaringEntityName
                else { return false }
                switch (property, known) {
                case (.attribute(let left), .attribute(let right)): return left.type == right.type
                case (.relationship(let left), .relationship(let right)):
                    return left.isToMany == right.isToMany && left.isOrdered == right.isOrdered
                        && left.destination.name == right.destination.name
                        && left.inverse.map { $0.name == right.inverse?.name } ?? true
                default: return false
                }
            }
        }
    }
}
