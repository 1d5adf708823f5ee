import Foundation
import ObjectGraph
import SealedStore
import TestSupport

/// The objects of a store in memory, as a migration is expected to change them: no statement, no key, no table.
struct ReferenceContent {
    struct Object {
        /// The number of the entity.
        let entity: Int
        /// The values by the numbers of attributes; those without a value are missing.
        var values: [Int: Value] = [:]
        /// The attributes that the entity no longer has, with their last declarations and values.
        var aside: [Int: (attribute: ModelSketch.Attribute, value: Value?)] = [:]
    }

    /// A reference from one object to another, by their identities.
    struct Pair: Hashable {
        let owner: Int
        let member: Int
    }

    var objects: [Int: Object] = [:]
    /// The pairs of each relationship by its number, in the order of the members if that is known.
    var pairs: [Int: [Pair]] = [:]
    /// The ordered relationships whose order is known.
    var ordered: Set<Int> = []

    /// A place at which a migration is expected to be refused.
    struct Problem: Hashable, CustomStringConvertible {
        let entity: String
        let property: String?
        let kind: String
        /// The number of rows; nil if it is not compared.
        let rows: Int?

        var description: String { "\(entity).\(property ?? "-") \(kind) \(rows.map(String.init) ?? "")" }
    }

    // MARK: Migrating

    /// The content after a migration, and the expected problems.
    func migrated(from old: ModelSketch, to new: ModelSketch) -> (content: ReferenceContent, problems: Set<Problem>) {
        var result = ReferenceContent()
        var problems: [Problem] = []
        var counts: [Problem: Int] = [:]
        func count(_ entity: String, _ property: String?, _ kind: String) {
            counts[Problem(entity: entity, property: property, kind: kind, rows: nil), default: 0] += 1
        }
        for (identity, object) in objects {
            // The objects of a removed subentity become those of the superentity.
            guard let entity = new.entity(for: object.entity, of: old) else { continue }
            if entity.isAbstract { count(entity.name, nil, "abstract") }
            var changed = Object(entity: entity.number)
            var known = Dictionary(
                uniqueKeysWithValues: old.attributes(of: old.entity(object.entity)).map {
                    ($0.attribute.number, (attribute: $0.attribute, value: object.values[$0.attribute.number]))
                }
            )
            changed.aside = object.aside.merging(known) { $1 }
            for (declaring, attribute) in new.attributes(of: entity) {
                // What was set aside comes back by its name.
                if known[attribute.number] == nil, let aside = object.aside[attribute.number],
                    [attribute.name, attribute.formerName].contains(aside.attribute.name)
                {
                    known[attribute.number] = aside
                }
                changed.aside[attribute.number] = nil
                if let (before, value) = known[attribute.number] {
                    if let value {
                        let converted = ReferenceConversion.expected(value, before.type, attribute.type)
                        if converted == nil { count(declaring.name, attribute.name, "type") }
                        changed.values[attribute.number] = converted
                        continue
                    }
                    if attribute.isOptional { continue }
                }
                changed.values[attribute.number] = attribute.defaultValue
                if attribute.defaultValue == nil, !attribute.isOptional {
                    count(declaring.name, attribute.name, "missing")
                }
            }
            result.objects[identity] = changed
        }
        problems += counts.map { Problem(entity: $0.entity, property: $0.property, kind: $0.kind, rows: $1) }
        problems += result.duplicates(in: new)
        problems += result.migrateRelationships(of: self, from: old, to: new)
        return (result, Set(problems))
    }

    private func duplicates(in model: ModelSketch) -> [Problem] {
        model.entities.flatMap { entity in
            entity.attributes.filter(\.isUnique).compactMap { attribute in
                let values = objects.values.filter { model.isKind(model.entity($0.entity), of: entity.number) }
                    .compactMap { $0.values[attribute.number] }
                // NaN is not stored as a number, and zero equals negative zero.
                let different = Set(values.map { $0 == .real(0) ? .real(0) : $0 })
                guard different.count < values.count else { return nil }
                return Problem(entity: entity.name, property: attribute.name, kind: "duplicates", rows: nil)
            }
        }
    }

    private mutating func migrateRelationships(
        of old: ReferenceContent,
        from oldModel: ModelSketch,
        to model: ModelSketch
    ) -> [Problem] {
        var problems: [Problem] = []
        for (declaring, relationship) in model.relationships {
            let before = oldModel.relationship(relationship.number)
            var found = before == nil ? [] : old.pairs[relationship.number] ?? []
            // A relationship that gets another inverse shares its table, in which the order of one of the two counts.
            var isOrderKnown =
                old.ordered.contains(relationship.number)
                && (relationship.inverse == nil || before?.relationship.inverse == relationship.inverse)
            // The pairs of the inverse, unless it was the inverse before.
            if let inverse = relationship.inverse, let backward = oldModel.relationship(inverse),
                before == nil || before?.relationship.inverse != inverse
            {
                let added = (old.pairs[backward.relationship.number] ?? [])
                    .map { Pair(owner: $0.member, member: $0.owner) }.filter { !found.contains($0) }
                if !added.isEmpty { isOrderKnown = false }
                // A member that is no longer one of the inverse's owners has lost the inverse, as any removed property.
                found += added.filter { pair in
                    objects[pair.member].map { model.isKind(model.entity($0.entity), of: relationship.destination) }
                        ?? false
                }
            }
            var kept: [Pair] = []
            for pair in found {
                guard let owner = objects[pair.owner], let member = objects[pair.member] else { continue }
                guard model.isKind(model.entity(owner.entity), of: declaring.number) else { continue }
                guard model.isKind(model.entity(member.entity), of: relationship.destination) else {
                    problems.append(problem(declaring, relationship, "foreign"))
                    continue
                }
                kept.append(pair)
            }
            if !relationship.isToMany, Set(kept.map(\.owner)).count < kept.count {
                problems.append(problem(declaring, relationship, "several"))
            }
            if !relationship.isOptional {
                let owners = Set(kept.map(\.owner))
                let isMissing = objects.contains { identity, object in
                    model.isKind(model.entity(object.entity), of: declaring.number) && !owners.contains(identity)
                }
                if isMissing { problems.append(problem(declaring, relationship, "missing")) }
            }
            pairs[relationship.number] = kept
            if relationship.isOrdered, isOrderKnown { ordered.insert(relationship.number) }
        }
        return problems
    }

    private func problem(
        _ entity: ModelSketch.Entity,
        _ relationship: ModelSketch.Relationship,
        _ kind: String
    ) -> Problem {
        Problem(entity: entity.name, property: relationship.name, kind: kind, rows: nil)
    }

    // MARK: Text

    /// The content, a line for each object.
    func lines(_ model: ModelSketch) -> [String] {
        objects.sorted { $0.key < $1.key }.map { identity, object in
            let entity = model.entity(object.entity)
            let values = model.attributes(of: entity).map { _, attribute in
                "\(attribute.name)=\(Self.text(object.values[attribute.number] ?? .null))"
            }
            let members = model.relationships(of: entity).map { _, relationship in
                let members = (pairs[relationship.number] ?? []).filter { $0.owner == identity }.map(\.member)
                return "\(relationship.name)=\(isOrderCompared(relationship) ? members : members.sorted())"
            }
            return "\(identity) \(entity.name): \((values + members).sorted().joined(separator: ", "))"
        }
    }

    /// The content of an open store in the same form.
    func lines(_ model: ModelSketch, of store: MigratingStore) throws -> [String] {
        var lines: [(Int, String)] = []
        for entity in model.entities where !entity.isAbstract {
            for object in try store.objects(entity.name) {
                let values = model.attributes(of: entity).map { _, attribute in
                    "\(attribute.name)=\(Self.text(object[attribute.name]))"
                }
                let members = model.relationships(of: entity).map { _, relationship in
                    let objects =
                        relationship.isToMany
                        ? object.members(forRelationship: relationship.name)
                        : [object.destination(forRelationship: relationship.name)].compactMap(\.self)
                    let members = objects.compactMap { $0 as? ManagedObject }.map(Self.identity)
                    return "\(relationship.name)=\(isOrderCompared(relationship) ? members : members.sorted())"
                }
                let identity = Self.identity(of: object)
                lines.append(
                    (identity, "\(identity) \(entity.name): \((values + members).sorted().joined(separator: ", "))")
                )
            }
        }
        return lines.sorted { $0.0 < $1.0 }.map(\.1)
    }

    private func isOrderCompared(_ relationship: ModelSketch.Relationship) -> Bool {
        relationship.isOrdered && ordered.contains(relationship.number)
    }

    static func identity(of object: ManagedObject) -> Int {
        if case .integer(let identity) = object[ModelSketch.identity] { Int(identity) } else { 0 }
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .real(let real): "real \(real.bitPattern)"
        case .uuid(let uuid): uuid.uuidString
        default: value.text
        }
    }
}

extension ModelSketch {
    /// The entity of the objects of an earlier model's entity: the same one, or the nearest superentity that can have
    /// objects; nil without one.
    fileprivate func entity(for number: Int, of old: ModelSketch) -> Entity? {
        if let same = entities.first(where: { $0.number == number }) { return same }
        let nearest = old.superentities(old.entity(number)).lazy.compactMap { ancestor in
            self.entities.first { $0.number == ancestor.number }
        }.first
        return nearest.flatMap { ([$0] + superentities($0)).first { !$0.isAbstract } }
    }
}
