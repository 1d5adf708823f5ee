/// What can go wrong in an object graph. Errors of a store are thrown as they are.
public enum ObjectGraphError: Error, Sendable {
    /// No store class is registered under the type.
    case storeTypeNotRegistered(String)
    /// No store of the coordinator holds the entity.
    case noStore(entity: String)
    /// An entity lives in two stores of the coordinator.
    case entityInTwoStores(entity: String)
    /// The store was opened for reading only.
    case storeIsReadOnly
    /// Somebody else has changed or deleted the objects since they were read.
    case conflicts([ManagedObjectID])
    /// Objects cannot be saved as they are; every problem there is.
    case validation([ValidationProblem])
    /// The values of the properties belong to another object already.
    case notUnique(entity: String, properties: [String])
    /// An identifier's text is none, or none of this model.
    case malformedIdentifier

    /// Why an object cannot be saved.
    public struct ValidationProblem: Hashable, Sendable, CustomStringConvertible {
        /// The object.
        public let id: ManagedObjectID
        /// The name of the property.
        public let property: String
        /// What is wrong.
        public let reason: Reason

        /// What can be wrong.
        public enum Reason: String, Hashable, Sendable {
            case missingValue = "it is not optional and has no value"
            case notEncodable = "its value cannot be encoded"
            case notRepresentable = "its value cannot be kept exactly (not a number)"
            case tooFewMembers = "it has fewer members than its minimum"
            case tooManyMembers = "it has more members than its maximum"
            case deletionDenied = "it has members, and its delete rule is deny"
        }

        /// The entity, the property and what is wrong; never the value.
        public var description: String { "\(id.entity.name).\(property): \(reason.rawValue)" }
    }
}

extension ObjectGraphError: CustomStringConvertible {
    /// What went wrong and what can be done.
    public var description: String {
        switch self {
        case .storeTypeNotRegistered(let type):
            "no store class is registered for type '\(type)': call PersistentStoreCoordinator.registerStoreClass first"
        case .noStore(let entity):
            "no store of the coordinator holds entity '\(entity)'"
        case .entityInTwoStores(let entity):
            "entity '\(entity)' lives in two stores of the coordinator"
        case .storeIsReadOnly:
            "the store was opened for reading only"
        case .conflicts(let ids):
            "\(ids.count) object(s) were changed or deleted by somebody else since they were read, the first of entity "
                + "'\(ids.first?.entity.name ?? "")': refresh them, or roll back"
        case .validation(let problems):
            (["\(problems.count) value(s) cannot be saved:"] + problems.map { "  \($0)" }).joined(separator: "\n")
        case .notUnique(let entity, let properties):
            "another object of entity '\(entity)' has the same \(properties.joined(separator: ", "))"
        case .malformedIdentifier:
            "the text is no identifier of an object of this model"
        }
    }
}
