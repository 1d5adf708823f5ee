public import Foundation

/// A store of objects that is read and written piece by piece, in the manner of Core Data's `NSIncrementalStore`.
///
/// A coordinator creates a store of the class that is registered for a type, calls ``loadMetadata()`` once, and then the
/// other methods from any thread, several at a time.
public protocol IncrementalStore: AnyObject, Sendable {
    /// Makes a store, without opening it.
    init(model: ManagedObjectModel, description: PersistentStoreDescription) throws

    /// Opens the store, creating it where that is asked for, and checks that its schema fits the model.
    ///
    /// - Returns: what the store says of itself.
    func loadMetadata() throws -> StoreMetadata

    /// Carries out a request: a fetch, a save or a batch request.
    func execute(_ request: StoreRequest, with context: ManagedObjectContext?) throws -> StoreResult

    /// Carries out a request that may not be wanted any more before it is done, and reports the rows that it reads.
    ///
    /// - Throws: `CancellationError` where the store stopped because it is not wanted; else as ``execute(_:with:)``.
    func execute(
        _ request: StoreRequest,
        with context: ManagedObjectContext?,
        monitor: RequestMonitor
    ) throws -> StoreResult

    /// Whether ``save(_:with:beforeCommit:)`` takes back what it has written if the closure throws.
    var savesInTwoPhases: Bool { get }

    /// Writes the changes of a save that is about several stores, calls `beforeCommit`, and then makes them permanent.
    ///
    /// All that can be wrong with the changes is thrown before `beforeCommit` is called, which has the other stores write
    /// theirs. If it throws, the store takes everything back and throws the same error. A store that cannot do so leaves it
    /// to the default and says so by ``savesInTwoPhases``; it is then written after the stores that can.
    func save(
        _ changes: SaveChangesRequest,
        with context: ManagedObjectContext?,
        beforeCommit: () throws -> Void
    ) throws

    /// The attributes and to-one relationships of an object, or nil where the store has no such object.
    func newValuesForObject(
        with id: ManagedObjectID,
        with context: ManagedObjectContext?
    ) throws -> IncrementalStoreNode?

    /// The destination or the members of an object's relationship; in its order where the relationship is ordered, else
    /// by primary key.
    func newValue(
        forRelationship relationship: Relationship,
        forObjectWith id: ManagedObjectID,
        with context: ManagedObjectContext?
    ) throws -> RelationshipValue

    /// Permanent identifiers for new objects of a root entity and those that inherit from it. No identifier is ever given
    /// out twice, whether or not the object is saved.
    func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID]

    /// The rows of several objects of one inheritance, in any order; those that the store does not have are left out.
    func newValuesForObjects(with ids: [ManagedObjectID], with context: ManagedObjectContext?) throws -> RowBatch

    /// The members of the same to-many relationship of several objects.
    func newValues(
        forRelationship relationship: Relationship,
        forObjectsWith ids: [ManagedObjectID],
        with context: ManagedObjectContext?
    ) throws -> RelationshipRows

    /// The state that the store has now, to be read later by contexts whose ``ManagedObjectContext/queryGenerationToken``
    /// has it among its ``QueryGenerationToken/generations``; nil where the store keeps no earlier states.
    func currentQueryGeneration() throws -> (any QueryGeneration)?

    /// Lets go of files and memory. No other method is called afterwards.
    func close() throws
}

extension IncrementalStore {
    /// False: a save is one request, which writes and commits.
    public var savesInTwoPhases: Bool { false }

    /// Calls `beforeCommit`, and then carries out the save as one request.
    public func save(
        _ changes: SaveChangesRequest,
        with context: ManagedObjectContext?,
        beforeCommit: () throws -> Void
    ) throws {
        try beforeCommit()
        _ = try execute(.save(changes), with: context)
    }

    /// No state is kept.
    public func currentQueryGeneration() throws -> (any QueryGeneration)? { nil }

    /// Carries the request out to its end, and then reports all rows at once.
    public func execute(
        _ request: StoreRequest,
        with context: ManagedObjectContext?,
        monitor: RequestMonitor
    ) throws -> StoreResult {
        let result = try execute(request, with: context)
        switch result {
        case .rows(let rows): monitor.didRead(rows: rows.count)
        case .dictionaries(let rows): monitor.didRead(rows: rows.count)
        case .matches(let matches): monitor.didRead(rows: matches.count)
        case .plan, .ids, .count, .saved, .batch: break
        }
        return result
    }

    /// Asks for one object after the other.
    public func newValuesForObjects(
        with ids: [ManagedObjectID],
        with context: ManagedObjectContext?
    ) throws -> RowBatch {
        var rows = RowBatchBuilder()
        for id in ids {
            guard let node = try newValuesForObject(with: id, with: context) else { continue }
            rows.append(node.row)
        }
        return rows.finish()
    }

    /// Asks for one object's relationship after the other, and then for the members' rows.
    public func newValues(
        forRelationship relationship: Relationship,
        forObjectsWith ids: [ManagedObjectID],
        with context: ManagedObjectContext?
    ) throws -> RelationshipRows {
        var result = RelationshipRows()
        for id in ids {
            let value = try newValue(forRelationship: relationship, forObjectWith: id, with: context)
            result.append(owner: id.key, members: value.ids.map(\.key))
        }
        return result
    }

    /// Nothing to let go of.
    public func close() throws {}
}

/// What a store says of itself.
public struct StoreMetadata: Hashable, Sendable {
    /// The identity of the store, fixed when it was created.
    public var uuid: UUID
    /// The type under which the store's class is registered.
    public var type: String
    /// The version of the file format; 0 for a store that has none.
    public var formatVersion: Int

    /// Makes metadata.
    public init(uuid: UUID, type: String, formatVersion: Int = 0) {
        self.uuid = uuid
        self.type = type
        self.formatVersion = formatVersion
    }
}

/// The row of one object as a store gives it out.
public struct IncrementalStoreNode: Sendable {
    /// The attributes and to-one relationships.
    public let row: Row

    /// A node for a row.
    public init(row: Row) {
        self.row = row
    }

    /// A node for values by property name. To-one relationships are the keys of their destinations; what is missing is
    /// null.
    public init(objectID: ManagedObjectID, values: [String: Value], version: UInt32) {
        var rows = RowBatchBuilder()
        let entity = objectID.entity
        rows.begin(key: objectID.key, version: version, entity: entity.index, slotCount: entity.slotCount)
        for (name, value) in values {
            if let slot = entity.propertiesByName[name]?.slot { rows.set(value, at: slot) }
        }
        row = rows.finish().first { _ in true }!
    }
}

/// What a relationship of one object leads to.
public enum RelationshipValue: Hashable, Sendable {
    case toOne(ManagedObjectID?)
    case toMany([ManagedObjectID])

    /// The identifiers, whichever the case.
    public var ids: [ManagedObjectID] {
        switch self {
        case .toOne(let id): id.map { [$0] } ?? []
        case .toMany(let ids): ids
        }
    }
}

/// The members of one to-many relationship of several objects.
public struct RelationshipRows: Sendable {
    /// The members' keys, owner by owner.
    public private(set) var members: [Int64] = []
    /// The owners' keys with the range of `members` that is theirs.
    public private(set) var owners: [(key: Int64, members: Range<Int>)] = []
    /// The members' rows, as far as the store read them on the way; each at most once.
    public var rows = RowBatch()

    /// A result without owners.
    public init() {}

    /// Adds an owner with its members.
    public mutating func append(owner: Int64, members keys: some Collection<Int64>) {
        let start = members.count
        members += keys
        owners.append((owner, start..<members.count))
    }

    /// Adds a member of an owner; those of an owner come one after the other.
    public mutating func append(member key: Int64, of owner: Int64) {
        members.append(key)
        if let last = owners.last, last.key == owner {
            owners[owners.count - 1].members = last.members.lowerBound..<members.count
        } else {
            owners.append((owner, members.count - 1..<members.count))
        }
    }
}
