import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Random programs whose models have parts of a random model change its objects in turn. Then the program with the whole
/// model must find what a reference in memory has: nothing is lost, and references to deleted objects are nil.
///
/// The seeds are new in each run; `SEED=N swift test --filter RandomAlternationTests` repeats one. `ALTERNATION_COUNT` is
/// the number of stores.
@Suite struct RandomAlternationTests {
    private static let seeds: [UInt64] = {
        let count = ProcessInfo.processInfo.environment["ALTERNATION_COUNT"].flatMap { Int($0) } ?? 40
        return SeededGenerator.seeds(max(1, count))
    }()

    @Test func `a program with the whole model finds everything after programs with parts of it`() throws {
        for seed in Self.seeds {
            do {
                var run = try RandomMigration(seed: seed)
                for number in 0..<4 {
                    let problems = try run.alternate()
                    guard problems.isEmpty else {
                        Issue.record("\(problems.joined(separator: "\n"))\nSEED=\(seed), program \(number)")
                        return
                    }
                }
            } catch {
                Issue.record("\(error)\nSEED=\(seed)")
                return
            }
        }
    }
}

extension RandomMigration {
    /// Opens the store with a part of the model, changes objects, and opens it with the whole model again.
    ///
    /// - Returns: The differences from the reference.
    fileprivate mutating func alternate() throws -> [String] {
        let part = model.part(&random)
        let store = try MigratingStore(url, part.descriptions)
        try change(store, part)
        let problems = try store.problems()
        try store.close()
        guard problems.isEmpty else { return problems }
        // Migrates, since the attributes become required again.
        try MigratingStore(url, model.descriptions).close()
        let names = part.entities.map(\.name).joined(separator: " ")
        return try differences(model, content, "after a program with \(names)")
    }

    private mutating func change(_ store: MigratingStore, _ part: ModelSketch) throws {
        let concrete = part.entities.filter { !$0.isAbstract }
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                guard let entity = random.pick(concrete) else { break }
                let identity = (content.objects.keys.max() ?? 0) + 1
                let object = store.insert(entity.name, [ModelSketch.identity: .integer(Int64(identity))])
                var reference = ReferenceContent.Object(entity: entity.number)
                let known = Set(part.attributes(of: entity).map(\.attribute.number))
                for (_, attribute) in model.attributes(of: model.entity(entity.number)) {
                    if known.contains(attribute.number) {
                        let value = random.pick(ReferenceConversion.samples(attribute.type)) ?? .null
                        object[attribute.name] = value
                        reference.values[attribute.number] = value
                    } else if !attribute.isOptional {
                        reference.values[attribute.number] = attribute.defaultValue
                    }
                }
                content.objects[identity] = reference
            case 1:
                guard let object = random.pick(try objects(store, part)) else { break }
                let identity = ReferenceContent.identity(of: object)
                store.context.delete(object)
                content.objects[identity] = nil
                for number in content.pairs.keys {
                    content.pairs[number]?.removeAll { $0.owner == identity || $0.member == identity }
                }
            case 2:
                guard let object = random.pick(try objects(store, part)) else { break }
                let entity = part.entities.first { $0.name == object.managedObjectID.entity.name }
                guard let entity, let attribute = random.pick(part.attributes(of: entity).map(\.attribute)) else {
                    break
                }
                let value = random.pick(ReferenceConversion.samples(attribute.type)) ?? .null
                object[attribute.name] = value
                content.objects[ReferenceContent.identity(of: object)]?.values[attribute.number] = value
            default:
                guard let (declaring, relationship) = random.pick(part.relationships),
                    let owner = random.pick(try objects(store, part, of: declaring))
                else { break }
                let members = try objects(store, part, of: part.entity(relationship.destination))
                if relationship.isToMany {
                    let chosen = members.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
                    owner.setMembers(Array(chosen), forRelationship: relationship.name)
                } else {
                    owner.setDestination(random.pick(members), forRelationship: relationship.name)
                }
            }
        }
        try readPairs(store, part)
        try store.context.save()
    }

    /// The objects of an entity and its subentities, or of all entities, by identity.
    private func objects(
        _ store: MigratingStore,
        _ part: ModelSketch,
        of entity: ModelSketch.Entity? = nil
    ) throws -> [ManagedObject] {
        let roots = entity.map { [$0] } ?? part.entities.filter { $0.superentity == nil }
        return try roots.flatMap { root in
            try store.context.fetch(FetchRequest(store.entity(root.name)), as: ManagedObject.self)
        }.sorted { ReferenceContent.identity(of: $0) < ReferenceContent.identity(of: $1) }
    }

    /// Takes over the pairs that the program knows, also as pairs of an inverse that it does not have.
    private mutating func readPairs(_ store: MigratingStore, _ part: ModelSketch) throws {
        for (declaring, relationship) in part.relationships {
            content.pairs[relationship.number] = try objects(store, part, of: declaring).flatMap { owner in
                let found =
                    relationship.isToMany
                    ? owner.members(forRelationship: relationship.name)
                    : [owner.destination(forRelationship: relationship.name)].compactMap(\.self)
                return found.compactMap { $0 as? ManagedObject }.map {
                    ReferenceContent.Pair(
                        owner: ReferenceContent.identity(of: owner),
                        member: ReferenceContent.identity(of: $0)
                    )
                }
            }
        }
        for (_, relationship) in model.relationships where part.relationship(relationship.number) == nil {
            guard let inverse = relationship.inverse, part.relationship(inverse) != nil else { continue }
            content.pairs[relationship.number] = content.pairs[inverse]?.map {
                ReferenceContent.Pair(owner: $0.member, member: $0.owner)
            }
            content.ordered.remove(relationship.number)
        }
    }
}

extension ModelSketch {
    /// The model without some attributes, relationships and entities.
    fileprivate func part(_ random: inout SeededGenerator) -> ModelSketch {
        var part = self
        for position in part.entities.indices {
            part.entities[position].attributes.removeAll { attribute in
                (attribute.isOptional || attribute.defaultValue != nil) && random.chance(40)
            }
        }
        for (_, relationship) in relationships where random.chance(30) {
            let inverse = relationship.inverse.flatMap { self.relationship($0)?.relationship }
            // A to-one side alone has no pairs of its own, and the other side would become another kind of relationship.
            if let inverse, !relationship.isToMany || !random.chance(50) { part.remove(number: inverse.number) }
            part.remove(number: relationship.number)
        }
        for entity in entities.reversed() where part.entities.count > 1 && random.chance(30) {
            let isLeaf = !part.entities.contains { $0.superentity == entity.number }
            let hasAdopter = entity.superentity == nil || superentities(entity).contains { !$0.isAbstract }
            guard isLeaf, hasAdopter else { continue }
            for (declaring, relationship) in part.relationships
            where relationship.destination == entity.number || declaring.number == entity.number {
                if let inverse = relationship.inverse { part.remove(number: inverse) }
                part.remove(number: relationship.number)
            }
            part.entities.removeAll { $0.number == entity.number }
        }
        return part
    }

    private mutating func remove(number: Int) {
        for entity in entities.indices {
            entities[entity].relationships.removeAll { $0.number == number }
            for position in entities[entity].relationships.indices
            where entities[entity].relationships[position].inverse == number {
                entities[entity].relationships[position].inverse = nil
            }
        }
    }
}
