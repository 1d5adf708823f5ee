import Guarded
import Synchronization

/// What a context could not read when a property asked for it. A property cannot throw, and reads as empty; so that nothing
/// is saved that a program made of the emptiness, the context's next save throws.
public final class ReadFailures: Sendable {
    /// How many failures are kept.
    private static let limit = 100

    /// A read that failed.
    @usableFromInline
    struct Failure: Sendable {
        let entityIndex: Int
        let key: Int64
        /// The property; nil for all.
        let slot: Int?
        let cause: any Error
    }

    /// The store does not have the row any more in which a value was left.
    public struct RowIsGone: Error {}

    private let failures = Guarded<[Failure]>([])
    private let count = Atomic<Int>(0)

    /// Makes an empty list.
    public init() {}

    /// Whether nothing has failed; cheap.
    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// The failures, oldest first.
    var all: [Failure] { failures.withLock { $0 } }

    @usableFromInline
    func add(_ failure: Failure) {
        failures.withLock { failures in
            guard failures.count < Self.limit else { return }
            failures.append(failure)
            count.store(failures.count, ordering: .releasing)
        }
    }

    func removeAll(where condition: (Failure) -> Bool = { _ in true }) {
        failures.withLock { failures in
            failures.removeAll(where: condition)
            count.store(failures.count, ordering: .releasing)
        }
    }
}

extension ManagedObjectContext {
    /// Forgets that values could not be read, so that the next save writes whatever the program has made of it.
    ///
    /// So do ``rollback()`` and ``reset()``, and ``refresh(_:mergeChanges:)`` for the object that is refreshed.
    public func forgetReadFailures() { readFailures.removeAll() }

    /// Makes sure that every property told its value.
    ///
    /// - Throws: ``ObjectGraphError/unreadable(_:)``.
    func requireReadableValues() throws {
        guard !readFailures.isEmpty else { return }
        // A deleted object answers what was last known of it, and tells that it is deleted.
        readFailures.removeAll { failure in
            let object = knownObject(forKey: failure.key, of: model.entities[failure.entityIndex])
            return object?.isObjectDeleted ?? (failure.cause is ReadFailures.RowIsGone)
        }
        guard !readFailures.isEmpty else { return }
        throw ObjectGraphError.unreadable(
            readFailures.all.map { failure in
                let entity = model.entities[failure.entityIndex]
                return ObjectGraphError.UnreadableValue(
                    id: id(entity: entity, key: failure.key),
                    property: failure.slot.map { entity.properties[$0].name },
                    cause: failure.cause
                )
            }
        )
    }

    /// Carries out a read for a property that is asked for its value, and takes note where it fails.
    ///
    /// - Parameters:
    ///   - object: Whose value is asked for.
    ///   - relationship: The property, where it is a relationship; else it is any of them.
    func reading<R>(
        for object: any GraphObject,
        _ relationship: Relationship? = nil,
        _ body: () throws -> R
    ) -> R? {
        reading(object.entity, key: object.state.pointee.key, slot: relationship?.slot, body)
    }

    /// The same for the object of an entity that has a key.
    func reading<R>(_ entity: Entity, key: Int64, slot: Int? = nil, _ body: () throws -> R) -> R? {
        do {
            return try body()
        } catch {
            readFailures.add(.init(entityIndex: entity.index, key: key, slot: slot, cause: error))
            return nil
        }
    }
}
