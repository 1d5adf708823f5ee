import Foundation
import ObjectGraph

/// The changes of a change set, which fit the model.
struct IncomingChanges {
    /// The change of one object.
    struct Change {
        let identifier: UUID
        let entity: Entity
        let kind: ChangeSet.Change.Kind
        /// The values by slot. An insertion has the values of all properties.
        let values: [(property: ExchangedProperty, value: ChangeSet.PropertyValue)]
    }

    let changes: [Change]

    /// Checks a change set.
    ///
    /// - Throws: `ExchangeError.otherModel`; `ExchangeError.invalidChangeSet`.
    init(_ changeSet: ChangeSet, _ store: OpenStore) throws {
        let exchanged = store.exchanged
        guard changeSet.modelHash == exchanged.modelHash else { throw ExchangeError.otherModel }
        let entities = Dictionary(uniqueKeysWithValues: store.exchangedEntities.map { ($0.name, $0) })
        var seen: Set<UUID> = []
        changes = try changeSet.changes.map { change in
            guard let entity = entities[change.entity], !entity.isAbstract else {
                // The name may be any text, and is not part of the error.
                throw Self.error(.unknownEntity, change.identifier, nil)
            }
            guard seen.insert(change.identifier).inserted else {
                throw Self.error(.repeatedObject, change.identifier, entity)
            }
            return Change(
                identifier: change.identifier,
                entity: entity,
                kind: change.kind,
                values: change.kind == .delete ? [] : try Self.values(of: change, entity, exchanged)
            )
        }
        try requireMutualPartners()
    }

    /// Checks that both sides of a one-to-one relationship that is its own inverse refer to each other.
    private func requireMutualPartners() throws {
        var partners: [Relationship: [UUID: UUID?]] = [:]
        for change in changes {
            for (property, value) in change.values {
                guard case .reference(let relationship) = property.form, relationship.inverse === relationship,
                    case .reference(let partner) = value
                else { continue }
                partners[relationship, default: [:]][change.identifier] = .some(partner)
            }
        }
        for (relationship, partners) in partners {
            for case (let identifier, let partner?) in partners {
                guard let other = partners[partner], other != identifier else { continue }
                throw Self.error(.inconsistentRelationship, identifier, relationship.source, relationship.name)
            }
        }
    }

    private static func values(
        of change: ChangeSet.Change,
        _ entity: Entity,
        _ exchanged: ExchangedProperties
    ) throws -> [(property: ExchangedProperty, value: ChangeSet.PropertyValue)] {
        var values: [(property: ExchangedProperty, value: ChangeSet.PropertyValue)] = []
        var found = 0
        for property in exchanged.properties(of: entity) {
            if let value = change.values[property.name] {
                found += 1
                guard let fitting = property.fitting(value) else {
                    throw error(.unfittingValue, change.identifier, entity, property.name)
                }
                values.append((property, fitting))
            } else if change.kind == .insert {
                values.append((property, property.emptyValue))
            } else {
                continue
            }
            if let last = values.last, last.value.isEmpty, !property.property.isOptional {
                throw error(.missingValue, change.identifier, entity, property.name)
            }
            if case .members(let members)? = values.last?.value, Set(members).count < members.count {
                throw error(.repeatedObject, change.identifier, entity, property.name)
            }
        }
        guard found == change.values.count else { throw error(.unknownProperty, change.identifier, entity) }
        return values
    }

    static func error(
        _ reason: ExchangeError.Problem.Reason,
        _ identifier: UUID? = nil,
        _ entity: Entity? = nil,
        _ property: String? = nil
    ) -> ExchangeError {
        .invalidChangeSet(.init(reason, identifier: identifier, entity: entity?.name, property: property))
    }
}

extension ExchangedProperty {
    /// The value of a new object to which nothing was assigned.
    var emptyValue: ChangeSet.PropertyValue {
        switch form {
        case .attribute: .attribute(.null)
        case .reference: .reference(nil)
        case .members, .order: .members([])
        }
    }

    /// A value in the form that the store holds; nil if the property cannot have it.
    ///
    /// Rules of an `AttributeValidation` belong to programs, not to the model of a store, and are not checked: a value
    /// that one program of an exchange may save must not stop the other programs.
    func fitting(_ value: ChangeSet.PropertyValue) -> ChangeSet.PropertyValue? {
        switch (form, value) {
        case (.attribute(let attribute), .attribute(let value)):
            guard value.isRepresentable(as: attribute.type) else { return nil }
            if case .uuid(let uuid) = value { return .attribute(.blob(withUnsafeBytes(of: uuid.uuid) { Data($0) })) }
            return .attribute(value)
        case (.reference, .reference), (.members, .members), (.order, .members): return value
        default: return nil
        }
    }
}
