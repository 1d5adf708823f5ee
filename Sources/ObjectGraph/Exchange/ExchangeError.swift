public import Foundation

/// An error of an exchange of changes between stores. The store is unchanged.
public enum ExchangeError: Error, Hashable, Sendable {
    /// The objects of the store have no global identifiers.
    case noIdentifiers
    /// Change sets before the given change set are missing: the store has the change sets up to `position`, and needs
    /// the next one.
    case outOfSequence(position: Int64, sequence: Int64)
    /// The change set belongs to another model.
    case otherModel
    /// Changes that were not exchanged are not in the history, up to the given number of a transaction: a repair has
    /// cleared references, or a migration has given the objects other keys. The store cannot continue the exchange.
    case expired(lastDeleted: Int64)
    /// The change set contradicts the model or the common order.
    case invalidChangeSet(Problem)
    /// The store has changed the same objects, and the merge policy is ``MergePolicy/error``.
    case conflicts([ExchangeConflict])

    /// The place of a contradiction in a change set. It contains no value.
    public struct Problem: Hashable, Sendable {
        /// The kind of a contradiction.
        public enum Reason: Hashable, Sendable {
            /// The model has no such entity, or the entity is abstract.
            case unknownEntity
            /// The entity has no such property, or the value of the property follows from other properties.
            case unknownProperty
            /// The value does not fit the property.
            case unfittingValue
            /// A required property has no value.
            case missingValue
            /// The change set contains the object twice, or names a member twice.
            case repeatedObject
            /// The store has never had the object.
            case missingObject
            /// The object is of another entity.
            case otherEntity
            /// Several objects have the same values of properties that are unique together.
            case notUnique
            /// A relationship does not allow the change.
            case inconsistentRelationship
            /// The position in the common order is not positive.
            case invalidSequence
        }

        /// The reason.
        public var reason: Reason
        /// The global identifier of the object; nil if the problem concerns several objects or none.
        public var identifier: UUID?
        /// The name of the entity.
        public var entity: String?
        /// The name of the property.
        public var property: String?

        /// Makes a problem.
        public init(_ reason: Reason, identifier: UUID? = nil, entity: String? = nil, property: String? = nil) {
            self.reason = reason
            self.identifier = identifier
            self.entity = entity
            self.property = property
        }
    }
}

extension ExchangeError: CustomStringConvertible {
    /// The problem and its remedy.
    public var description: String {
        switch self {
        case .noIdentifiers:
            "the objects of the store have no global identifiers: open it with the option 'identifiesObjects'"
        case .outOfSequence(let position, let sequence):
            "the store contains the change sets up to \(position): apply the next one before that with number \(sequence)"
        case .otherModel: "the change set belongs to another model: migrate all stores of the exchange to the same one"
        case .expired(let last):
            """
            a repair or a migration has changed objects that were not exchanged (up to transaction \(last)): continue \
            with a copy of the file of another store
            """
        case .invalidChangeSet(let problem): "the change set is invalid: \(problem)"
        case .conflicts(let conflicts):
            "the change set is in conflict with \(conflicts.count) changes of the store: choose another merge policy"
        }
    }
}

extension ExchangeError.Problem: CustomStringConvertible {
    /// The place and the reason.
    public var description: String {
        let place = [entity, property].compactMap(\.self).joined(separator: ".")
        return (place.isEmpty ? "" : "\(place): ") + text
    }

    private var text: String {
        switch reason {
        case .unknownEntity: "the model has no such entity, or it is abstract"
        case .unknownProperty: "the entity has no such property, or it follows from others"
        case .unfittingValue: "the value does not fit the property"
        case .missingValue: "a required property has no value"
        case .repeatedObject: "an object is named twice"
        case .missingObject: "the store has never had an object"
        case .otherEntity: "an object is of another entity"
        case .notUnique: "several objects have the same unique values"
        case .inconsistentRelationship: "the relationship does not allow the change"
        case .invalidSequence: "the position in the common order is not positive"
        }
    }
}
