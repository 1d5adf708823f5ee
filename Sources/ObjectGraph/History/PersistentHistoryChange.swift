/// The change of one object in a ``PersistentHistoryTransaction``.
public struct PersistentHistoryChange: Sendable, Identifiable {
    /// The kind of a change.
    public enum Kind: Hashable, Sendable {
        /// The object was inserted.
        case insert
        /// Properties of the object were changed.
        case update
        /// The object was deleted.
        case delete
    }

    /// The number of the change, unique in the store. Later changes have larger numbers.
    public let id: Int64
    /// The kind.
    public let kind: Kind
    /// The object.
    public let objectID: ManagedObjectID
    /// The changed properties of an updated object; empty for other changes. A change of a to-many relationship changes
    /// the inverse, too.
    public let updatedProperties: [Property]
    /// The recorded values.
    public let values: Values

    /// The recorded values of a changed object.
    ///
    /// The values are in their stored form; the destination of a to-one relationship is its primary key. A history that
    /// does not record values has only values of deleted objects whose attribute has
    /// `AttributeDescription.preservesValueOnDeletion`.
    public struct Values: Hashable, Sendable {
        /// The values before the change, by property name: the values of the updated properties of an updated object,
        /// and all values of a deleted object that are not null.
        public var old: [String: Value] = [:]
        /// The values after the change, by property name: the values of the updated properties of an updated object,
        /// and all values of an inserted object that are not null.
        public var new: [String: Value] = [:]
        /// The changes of to-many relationships that the members' rows do not contain, by name.
        public var members: [String: Members] = [:]

        /// No values.
        public init() {}

        /// Whether no value is recorded.
        public var isEmpty: Bool { old.isEmpty && new.isEmpty && members.isEmpty }
    }

    /// The change of a to-many relationship.
    public struct Members: Hashable, Sendable {
        /// The primary keys of the new members.
        public var added: [Int64]
        /// The primary keys of the removed members.
        public var removed: [Int64]
        /// The primary keys of all members in their order; nil for an unordered relationship.
        public var order: [Int64]?

        /// Makes a change.
        public init(added: [Int64], removed: [Int64], order: [Int64]?) {
            self.added = added
            self.removed = removed
            self.order = order
        }
    }
}
