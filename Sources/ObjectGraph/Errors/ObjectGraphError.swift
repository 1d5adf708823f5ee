/// An error of an object graph. Errors of a store are thrown unchanged.
public enum ObjectGraphError: Error, Sendable {
    /// No store class is registered under the type.
    case storeTypeNotRegistered(String)
    /// No store of the coordinator holds the entity.
    case noStore(entity: String)
    /// An entity belongs to two stores of the coordinator.
    case entityInTwoStores(entity: String)
    /// The store was opened for reading only.
    case storeIsReadOnly
    /// Other writers have changed or deleted the objects since they were read.
    case conflicts([MergeConflict])
    /// Values of objects cannot be saved. Contains all problems.
    case validation([ValidationProblem])
    /// Objects have the same values of properties that must be unique. Contains all conflicts.
    case notUnique([ConstraintConflict])
    /// A text is not an identifier, or not an identifier of an entity of this model.
    case malformedIdentifier
    /// Each call of `willSave()`, of a validation or of the encoding of a value changes further objects, so a save
    /// cannot begin.
    case endlessChanges
    /// `willSave()` or a validation called `save()` of the context that is being saved.
    case saveInProgress
    /// Another thread is saving the context: a context belongs to one thread, actor or queue at a time.
    case usedByAnotherThread
    /// A save over several stores was committed to some of them, and the commit to a further store failed.
    case incompleteSave(IncompleteSave)
    /// Values of properties could not be read, and the properties returned empty values. A save has saved nothing; see
    /// ``ManagedObjectContext/forgetReadFailures()``. A fetch throws each failure once.
    case unreadable([UnreadableValue])
    /// A store does not implement a type of request, or the reading of relationships.
    case unsupportedRequest(storeType: String, request: String)
    /// A batch request cannot write an entity or a property.
    case invalidBatch(entity: String, property: String?, reason: BatchProblem)

    /// A value that could not be read.
    public struct UnreadableValue: Sendable, CustomStringConvertible {
        /// The object.
        public let id: ManagedObjectID
        /// The name of the property; nil if no property of the object could be read.
        public let property: String?
        /// The error of the store, or one of the errors of ``ReadFailures``.
        public let cause: any Error

        /// The entity, the property and the cause.
        public var description: String {
            "\([id.entity.name, property].compactMap(\.self).joined(separator: ".")): \(cause)"
        }
    }

    /// A reason for which an object cannot be saved.
    public struct ValidationProblem: Hashable, Sendable, CustomStringConvertible {
        /// The object.
        public let id: ManagedObjectID
        /// The name of the property; empty for a problem of the whole object.
        public let property: String
        /// The reason.
        public let reason: Reason

        /// Makes a problem.
        public init(id: ManagedObjectID, property: String, reason: Reason) {
            self.id = id
            self.property = property
            self.reason = reason
        }

        /// A reason for which a value or an object cannot be saved.
        public enum Reason: Hashable, Sendable, CustomStringConvertible {
            /// The property is not optional and has no value.
            case missingValue
            /// The object's context or row no longer exists, and the value was not read before.
            case unread
            /// The value cannot be encoded as JSON text.
            case notEncodable
            /// The attribute's type cannot hold the value: it is NaN, out of range, or not the stored form of a value.
            case notRepresentable
            /// The value is below the attribute's minimum.
            case tooSmall
            /// The value is above the attribute's maximum.
            case tooLarge
            /// The value is shorter than the attribute's minimum length.
            case tooShort
            /// The value is longer than the attribute's maximum length.
            case tooLong
            /// The object's texts and blobs are together longer than 2 GiB, the limit of a row.
            case rowTooLong
            /// A to-many relationship has fewer members than its minimum.
            case tooFewMembers
            /// A to-many relationship has more members than its maximum.
            case tooManyMembers
            /// A relationship with delete rule deny has members.
            case deletionDenied
            /// Another context or process has deleted the destination of the relationship.
            case missingDestination
            /// A validation of the object's class threw an error with this description.
            case rejected(String)

            /// The reason in a sentence.
            public var description: String {
                switch self {
                case .missingValue: "it is not optional and has no value"
                case .unread: "its value was not read before the object lost its context or its row; set it"
                case .notEncodable: "its value cannot be encoded"
                case .notRepresentable: "its type cannot hold the value (not a number, out of range, or malformed)"
                case .tooSmall: "its value is below its minimum"
                case .tooLarge: "its value is above its maximum"
                case .tooShort: "its value is shorter than its minimum length"
                case .tooLong: "its value is longer than its maximum length"
                case .rowTooLong: "its value makes the object longer than a row can hold"
                case .tooFewMembers: "it has fewer members than its minimum"
                case .tooManyMembers: "it has more members than its maximum"
                case .deletionDenied: "it has members, and its delete rule is deny"
                case .missingDestination: "its destination is no longer in the store"
                case .rejected(let text): text
                }
            }
        }

        /// The entity, the property and the reason; never the value.
        public var description: String {
            (property.isEmpty ? id.entity.name : "\(id.entity.name).\(property)") + ": \(reason)"
        }
    }

    /// The outcome of a save over several stores that was not committed to all of them.
    public struct IncompleteSave: Sendable {
        /// The stores that have the changes. Their objects have no unsaved changes.
        public let savedStores: [StoreIdentity]
        /// The stores that have none of the changes. The next save writes them.
        public let unsavedStores: [StoreIdentity]
        /// The error of the first store whose commit failed.
        public let cause: any Error
    }

    /// A reason for which a batch request cannot write a property.
    public enum BatchProblem: String, Hashable, Sendable {
        case unknownProperty = "the entity has no such property"
        case toMany = "a to-many relationship is not written by batch requests"
        case inverseMustChange = "its inverse is to-one, ordered or shared, so that other objects would change"
        case wrongType = "the value is of another type"
        case abstractEntity = "the entity is abstract"
        case needsMembers = "a new object needs members, which batch requests do not write"
    }
}

extension ObjectGraphError: CustomStringConvertible {
    /// The problem and its remedy.
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
        case .conflicts(let conflicts):
            "\(conflicts.count) object(s) were changed or deleted by other writers since they were read, the first of "
                + "entity '\(conflicts.first?.objectID.entity.name ?? "")': refresh them, roll back, or set a merge policy"
        case .validation(let problems):
            (["\(problems.count) value(s) cannot be saved:"] + problems.map { "  \($0)" }).joined(separator: "\n")
        case .notUnique(let conflicts):
            conflicts.map(\.description).joined(separator: "\n")
        case .malformedIdentifier:
            "the text is not an identifier of an object of this model"
        case .endlessChanges:
            "willSave(), a validation or the encoding of a value changes further objects each time: a save cannot "
                + "begin"
        case .saveInProgress:
            "the context is being saved: willSave() and validations must not save it"
        case .usedByAnotherThread:
            "another thread is saving the context: a context belongs to one thread, actor or queue at a time; make a context "
                + "for each of them"
        case .incompleteSave(let save):
            "the changes are saved in \(save.savedStores.map(\.description).joined(separator: "; ")), and not in "
                + "\(save.unsavedStores.map(\.description).joined(separator: "; ")): \(save.cause). Save again to write the rest"
        case .unreadable(let values):
            (["\(values.count) value(s) could not be read, and were empty for the program:"]
                + values.map { "  \($0)" }).joined(separator: "\n")
        case .unsupportedRequest(let storeType, let request):
            "stores of type '\(storeType)' do not support '\(request)'"
        case .invalidBatch(let entity, let property, let reason):
            "a batch request cannot write '\(([entity] + [property].compactMap(\.self)).joined(separator: "."))': "
                + reason.rawValue
        }
    }
}
