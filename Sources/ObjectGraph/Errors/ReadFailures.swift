import Guarded
import Foundation
import Synchronization

/// The failed reads of a context on behalf of properties.
///
/// A property cannot throw: it reads as empty. The next fetch of the context throws each failure once, and every save
/// throws until the failures are forgotten, so that values computed from substitutes are not saved.
///
/// The list outlives its context. A value that an object cannot read because its context was released is reported to
/// the handler of that context, or to ``RuntimeIssues`` if it had no handler.
public final class ReadFailures: Sendable {
    /// The maximum number of failures in the list.
    private static let limit = 100

    /// A failed read.
    @usableFromInline
    struct Failure: Sendable {
        let entityIndex: Int
        let key: Int64
        /// The property; nil for all properties.
        let slot: Int?
        let cause: any Error

        func isSameValue(as other: Failure) -> Bool {
            key == other.key && slot == other.slot && entityIndex == other.entityIndex
        }
    }

    /// The row with a deferred value no longer exists in the store.
    public struct MissingRow: Error {}

    /// The context of the object was released or reset, so the value can no longer be read from the store.
    public struct MissingContext: Error, CustomStringConvertible {
        /// The cause and the remedy.
        public var description: String {
            "the context of the object no longer exists, and the value was not read before: keep the context while its objects "
                + "are read, or prefetch the value"
        }
    }

    /// The store has no value for a property that is not optional.
    public struct MissingValue: Error, CustomStringConvertible {
        /// The cause.
        public var description: String { "the property is not optional, and the store has no value for it" }
    }

    /// The stored value is not a value of the property's type. It remains in the store.
    public struct UndecodableValue: Error, CustomStringConvertible {
        /// The name of the type.
        public let typeName: String

        package init(_ type: Any.Type) {
            typeName = "\(type)"
        }

        /// The type, never the value.
        public var description: String { "the stored value is not a value of type \(typeName)" }
    }

    /// A function that is called with a value that could not be read.
    public typealias Handler = @Sendable (ObjectGraphError.UnreadableValue) -> Void

    private struct State {
        var failures: [Failure] = []
        /// The number of failures at the end of the list that no fetch has thrown.
        var unreportedCount = 0
        var handler: Handler?
        var contextIsDeallocated = false
        var hasReportedLoss = false
        weak var coordinator: PersistentStoreCoordinator?
        /// The identities of the stores when the context was released, at the indexes of their entities.
        var storeUUIDs: [UUID?] = []
    }

    private let model: ManagedObjectModel
    private let state: Guarded<State>
    // A fetch and a save read these without the lock.
    private let count = Atomic<Int>(0)
    private let unreportedCount = Atomic<Int>(0)
    private let additionCount = Atomic<Int>(0)

    /// Creates an empty list for a context of a coordinator.
    init(_ coordinator: PersistentStoreCoordinator) {
        model = coordinator.model
        state = Guarded(State(coordinator: coordinator))
    }

    /// Whether the list is empty. Does not take the lock.
    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// Whether a fetch has failures to throw. Does not take the lock.
    var hasUnreported: Bool { unreportedCount.load(ordering: .acquiring) > 0 }

    /// The number of failed reads, including those that were forgotten.
    var additions: Int { additionCount.load(ordering: .acquiring) }

    /// The values that could not be read, oldest failure first.
    var values: [ObjectGraphError.UnreadableValue] {
        state.withLock { state in state.failures.map { value(of: $0, state) } }
    }

    /// The handler; see ``ManagedObjectContext/didFailToRead``.
    var handler: Handler? {
        get { state.withLock { $0.handler } }
        set { state.replace(\.handler, with: newValue) }
    }

    /// Records a failed read. A failure that the list already contains is not reported again.
    @usableFromInline
    func add(_ failure: Failure) {
        additionCount.add(1, ordering: .acquiringAndReleasing)
        let (handler, contextIsDeallocated): (Handler?, Bool) = state.withLock { state in
            if state.contextIsDeallocated { return (nil, true) }
            guard !state.failures.contains(where: { $0.isSameValue(as: failure) }) else { return (nil, false) }
            if state.failures.count == Self.limit {
                // The oldest failure is dropped. A save throws while the list is not empty.
                if state.unreportedCount == Self.limit { state.unreportedCount -= 1 }
                state.failures.removeFirst()
            }
            state.failures.append(failure)
            state.unreportedCount += 1
            publishCounts(state)
            return (state.handler, false)
        }
        // Outside the lock, since a handler may read the failures of the context.
        if contextIsDeallocated { return reportLoss(failure) }
        handler?(state.withLock { value(of: failure, $0) })
    }

    /// Whether the list has a failure for which `isIncluded` returns true.
    func contains(where isIncluded: (Failure) -> Bool) -> Bool {
        !isEmpty && state.withLock { $0.failures }.contains(where: isIncluded)
    }

    /// Returns the failures that no fetch has thrown. They stay in the list.
    func takeUnreported() -> [ObjectGraphError.UnreadableValue] {
        state.withLock { state in
            defer {
                state.unreportedCount = 0
                publishCounts(state)
            }
            return state.failures.suffix(state.unreportedCount).map { value(of: $0, state) }
        }
    }

    /// Removes the failures for which `isIncluded` returns true.
    func removeAll(where isIncluded: (Failure) -> Bool = { _ in true }) {
        // The closure is called outside the lock, since it may call the list.
        let removed = state.withLock { $0.failures }.filter(isIncluded)
        guard !removed.isEmpty else { return }
        state.withLock { state in
            let reported = state.failures.dropLast(state.unreportedCount)
            let isKept = { (failure: Failure) in !removed.contains { $0.isSameValue(as: failure) } }
            let unreported = state.failures.suffix(state.unreportedCount).filter(isKept)
            state.failures = reported.filter(isKept) + unreported
            state.unreportedCount = unreported.count
            publishCounts(state)
        }
    }

    private func publishCounts(_ state: State) {
        count.store(state.failures.count, ordering: .releasing)
        unreportedCount.store(state.unreportedCount, ordering: .releasing)
    }

    private func value(of failure: Failure, _ state: borrowing State) -> ObjectGraphError.UnreadableValue {
        let entity = model.entities[failure.entityIndex]
        let known = state.storeUUIDs.isEmpty ? nil : state.storeUUIDs[entity.index]
        let storeUUID = failure.key > 0 ? state.coordinator?.storeUUID(for: entity) ?? known : nil
        return ObjectGraphError.UnreadableValue(
            id: ManagedObjectID(entity: entity, storeUUID: storeUUID, key: failure.key),
            property: failure.slot.map { entity.properties[$0].name },
            cause: failure.cause
        )
    }

    // MARK: Objects without their context

    /// Records that the context is being deallocated: failures are reported at once, since no fetch or save follows.
    func contextWillDeallocate() {
        state.withLock { state in
            state.contextIsDeallocated = true
            state.storeUUIDs = model.entities.map { state.coordinator?.storeUUID(for: $0) }
        }
    }

    /// Reports a value that cannot be read because the object's context was released, once for each context.
    func reportLoss(_ failure: Failure) {
        let isFirst = state.withLock { state -> Bool in
            defer { state.hasReportedLoss = true }
            return !state.hasReportedLoss
        }
        guard isFirst else { return }
        let value = state.withLock { self.value(of: failure, $0) }
        if let handler { handler(value) } else { RuntimeIssues.report("\(value)") }
    }
}
