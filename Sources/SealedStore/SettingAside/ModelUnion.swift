import Guarded
import ObjectGraph

/// A program's model together with the entities and properties of a store that the program's model does not have: the
/// model of the store's tables after the program has opened the store.
///
/// An added attribute or to-one relationship of an entity of the program becomes optional, since the program inserts
/// objects without a value for it. Its unique index stays: SQLite regards NULLs as different.
///
/// A declaration is not added if it has no place beside the declarations of the program:
/// - a relationship whose destination is not added, or whose inverse is not;
/// - a relationship whose pairs a relationship of the program contains, unless the tables need not change for it;
/// - a property that a part of the program's entities still has, or whose name the program gives to another property;
/// - a subentity of an entity of the program without a superentity that can have its objects, or whose objects would
///   leave the destination of a relationship.
/// ``MigrationChecks`` finds the data of such declarations.
struct ModelUnion: Sendable {
    /// The model; the program's own model if nothing is added.
    let model: ManagedObjectModel

    private struct Key: Hashable {
        let own: [ObjectIdentifier]
        let file: [ObjectIdentifier]
        let visible: [ObjectIdentifier]
    }

    private static let known = Guarded(BoundedCache<Key, ModelUnion>(limit: 32))

    /// - Parameters:
    ///   - own: The model of the program.
    ///   - stored: The metadata of the store.
    ///   - removesMissing: Whether entities and properties that the store's last program had are removed. Those that
    ///     are already set aside are added in any case.
    static func of(_ own: ManagedObjectModel, _ stored: StoreMetadataTable, removesMissing: Bool) -> ModelUnion {
        let visible = removesMissing ? stored.model : nil
        // Entities are never freed.
        let key = Key(
            own: own.entities.map(ObjectIdentifier.init),
            file: stored.fileModel.entities.map(ObjectIdentifier.init),
            visible: visible?.entities.map(ObjectIdentifier.init) ?? []
        )
        return known.value(for: key) {
            ModelUnion(model: UnionBuilder(own, stored.fileModel, without: visible).model())
        }
    }
}

extension ModelUnion {
    /// The smallest model whose tables have the same form for a program as the tables of a store.
    ///
    /// A table of several entities keeps the column of their numbers, and a table of pairs its name and its columns: the
    /// store may be open with the program's model.
    static func smallest(for own: ManagedObjectModel, in file: ManagedObjectModel) throws -> ManagedObjectModel {
        var declarations = own.declarations
        for root in own.entities where root.isRoot && root.family.count == 1 {
            guard let subentity = file.entitiesByName[root.name]?.family.first(where: { $0.superentity != nil }) else {
                continue
            }
            declarations.append(EntityDescription(subentity.name, superentity: root.name, isAbstract: true))
        }
        for relationship in file.relationships
        where relationship.placement == .joinTable(isCanonical: true) && own.relationship(like: relationship) == nil {
            guard let inverse = relationship.inverse.flatMap(own.relationship),
                let source = declarations.firstIndex(where: { $0.name == relationship.source.name })
            else { continue }
            var declaration = relationship.description
            declaration.isOrdered = false
            declarations[source].relationships.append(declaration)
            declarations[source].propertyOrder?.append(declaration.name)
            for position in declarations[inverse.source.index].relationships.indices
            where declarations[inverse.source.index].relationships[position].name == inverse.name {
                declarations[inverse.source.index].relationships[position].inverse = relationship.name
            }
        }
        return declarations == own.declarations ? own : try ManagedObjectModel(entities: declarations)
    }
}

/// Builds a ``ModelUnion``.
private struct UnionBuilder {
    private let own: ManagedObjectModel
    private let file: ManagedObjectModel
    /// The model whose declarations are not added; nil if all are.
    private let visible: ManagedObjectModel?
    private let mapping: ModelMapping
    /// The added entities.
    private var entities: Set<Entity> = []
    /// The added properties, which the entities of the store declare.
    private var properties: Set<Property> = []
    /// The added inverses, by the relationships of the program that get them.
    private var inverses: [Relationship: Relationship] = [:]
    /// The properties of the program by the properties of the store that supply their data, one for each.
    private var used: [Property: Property] = [:]

    init(_ own: ManagedObjectModel, _ file: ManagedObjectModel, without visible: ManagedObjectModel?) {
        self.own = own
        self.file = file
        self.visible = visible
        mapping = ModelMapping(from: file, to: own)
        for entity in own.entities {
            for property in entity.properties {
                if let old = mapping.old(of: property, in: entity), used[old] == nil { used[old] = property }
            }
        }
        for entity in file.entities where mapping.newEntities[entity] == nil { addEntity(entity) }
        addProperties()
        removeUnrelated()
    }

    // MARK: Choosing

    /// Whether a declaration may be added.
    private func mayAdd(_ entity: Entity, _ property: Property? = nil) -> Bool {
        guard let visible else { return true }
        guard let known = visible.entitiesByName[entity.name] else { return true }
        return property.map { known.propertiesByName[$0.name] == nil } ?? false
    }

    /// The name of an entity of the store in the union; nil if the union does not have it.
    private func name(of entity: Entity) -> String? {
        mapping.newEntities[entity]?.name ?? (entities.contains(entity) ? entity.name : nil)
    }

    private mutating func addEntity(_ entity: Entity) {
        guard !entities.contains(entity), mayAdd(entity), own.entitiesByName[entity.name] == nil else { return }
        if let superentity = entity.superentity {
            if mapping.newEntities[superentity] == nil { addEntity(superentity) }
            guard name(of: superentity) != nil else { return }
            if !entity.isAbstract, let nearest = nearestOwn(superentity), !canAdopt(nearest) { return }
        }
        entities.insert(entity)
    }

    /// The nearest entity of the program among an entity of the store and its superentities.
    private func nearestOwn(_ entity: Entity) -> Entity? {
        mapping.newEntities[entity] ?? entity.superentity.flatMap(nearestOwn)
    }

    /// Whether the objects of a subentity can be objects of an entity of the program, or of a superentity without leaving
    /// the destination of a relationship.
    private func canAdopt(_ entity: Entity) -> Bool {
        guard entity.isAbstract else { return true }
        guard let superentity = entity.superentity, !own.relationships.contains(where: { $0.destination === entity })
        else { return false }
        return canAdopt(superentity)
    }

    private mutating func addProperties() {
        for entity in file.entities where name(of: entity) != nil {
            let home = mapping.newEntities[entity]
            for property in entity.properties where property.declaringEntityName == entity.name {
                if home != nil, used[property] != nil || !mayAdd(entity, property) { continue }
                guard isFree(property.name, in: entity, home) else { continue }
                properties.insert(property)
            }
        }
    }

    /// Whether no property of the program has the name in the hierarchy of an entity of the store.
    private func isFree(_ name: String, in entity: Entity, _ home: Entity?) -> Bool {
        if let home {
            if home.family.contains(where: { $0.propertiesByName[name] != nil }) { return false }
        } else if let nearest = entity.superentity.flatMap(nearestOwn), nearest.propertiesByName[name] != nil {
            return false
        }
        return true
    }

    /// Removes relationships without destination or inverse, until the rest is consistent.
    private mutating func removeUnrelated() {
        var isComplete = false
        while !isComplete {
            isComplete = true
            inverses = [:]
            for property in properties {
                guard case .relationship(let relationship) = property, !isRelated(relationship) else { continue }
                properties.remove(property)
                isComplete = false
                break
            }
        }
    }

    private mutating func isRelated(_ relationship: Relationship) -> Bool {
        guard let destination = name(of: relationship.destination) else { return false }
        guard let inverse = relationship.inverse else { return true }
        if properties.contains(.relationship(inverse)) { return true }
        // The columns and positions of the pair stay only if the program has the side with the key, or a table of
        // pairs.
        guard relationship.isToMany, case .relationship(let kept)? = used[.relationship(inverse)],
            kept.inverse == nil, kept.isToMany == inverse.isToMany, kept.isOrdered == inverse.isOrdered,
            kept.source.name == destination, kept.destination.name == name(of: relationship.source),
            inverses[kept] == nil
        else { return false }
        inverses[kept] = relationship
        return true
    }

    // MARK: Declaring

    func model() -> ManagedObjectModel {
        if entities.isEmpty, properties.isEmpty { return own }
        let predecessors = Dictionary(mapping.newEntities.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let declarations = own.entities.map { entity in
            var declaration = entity.description
            for position in declaration.relationships.indices {
                let name = declaration.relationships[position].name
                guard case .relationship(let relationship)? = entity.propertiesByName[name],
                    let inverse = inverses[relationship]
                else { continue }
                declaration.relationships[position].inverse = inverse.name
            }
            if let old = predecessors[entity] { extend(&declaration, with: old) }
            return declaration
        }
        let added = file.entities.filter(entities.contains).map(self.declaration)
        // If the union contradicts itself, nothing is added.
        return (try? ManagedObjectModel(entities: declarations + added)) ?? own
    }

    private func extend(_ declaration: inout EntityDescription, with old: Entity) {
        let own = old.properties.filter { $0.declaringEntityName == old.name && properties.contains($0) }
        for property in own {
            switch property {
            case .attribute(let attribute):
                var added = attribute.description
                added.isOptional = true
                declaration.attributes.append(added)
            case .relationship(let relationship):
                var added = self.declaration(of: relationship)
                if !relationship.isToMany { added.isOptional = true }
                declaration.relationships.append(added)
            }
        }
        declaration.propertyOrder?.append(contentsOf: own.map(\.name))
        declaration.uniquenessConstraints += old.description.uniquenessConstraints.compactMap { names in
            self.names(names, in: old).flatMap { $0.isExtended ? $0.names : nil }
        }
        declaration.indexes += old.description.indexes.compactMap { index in
            names(index.properties, in: old).flatMap {
                $0.isExtended ? FetchIndexDescription($0.names, kind: index.kind) : nil
            }
        }
    }

    private func declaration(of entity: Entity) -> EntityDescription {
        var declaration = entity.description
        declaration.superentity = entity.superentity.flatMap(name)
        declaration.attributes.removeAll { attribute in
            entity.propertiesByName[attribute.name].map { !properties.contains($0) } ?? true
        }
        declaration.relationships = entity.relationships.filter {
            $0.source === entity && properties.contains(.relationship($0))
        }.map(self.declaration)
        let names = Set(declaration.attributes.map(\.name) + declaration.relationships.map(\.name))
        declaration.propertyOrder?.removeAll { !names.contains($0) }
        declaration.uniquenessConstraints = declaration.uniquenessConstraints.compactMap {
            self.names($0, in: entity)?.names
        }
        declaration.indexes = declaration.indexes.compactMap { index in
            self.names(index.properties, in: entity).map { FetchIndexDescription($0.names, kind: index.kind) }
        }
        return declaration
    }

    private func declaration(of relationship: Relationship) -> RelationshipDescription {
        var declaration = relationship.description
        declaration.destination = name(of: relationship.destination) ?? declaration.destination
        declaration.inverse = relationship.inverse.flatMap { inverse in
            if properties.contains(.relationship(inverse)) { return inverse.name }
            return inverses.first { $0.value === relationship }?.key.name
        }
        declaration.sharedInverse = nil
        return declaration
    }

    /// The names of some properties of an entity of the store in the union, and whether one of them is added; nil if one
    /// is missing.
    private func names(_ names: [String], in entity: Entity) -> (names: [String], isExtended: Bool)? {
        var isExtended = false
        let new = names.compactMap { name -> String? in
            guard let property = entity.propertiesByName[name] else { return nil }
            if properties.contains(property) {
                isExtended = true
                return name
            }
            let home = nearestOwn(entity)
            return home?.properties.first { property in
                home.map { mapping.old(of: property, in: $0) == entity.propertiesByName[name] } ?? false
            }?.name
        }
        return new.count == names.count ? (new, isExtended) : nil
    }
}
