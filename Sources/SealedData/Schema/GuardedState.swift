import Foundation

/// The state of an object that several threads may read and write, one member at a time.
///
/// The classes of a schema have settable properties, as SwiftData's have, and yet travel between threads with their
/// container.
@dynamicMemberLookup
final class GuardedState<State>: @unchecked Sendable {
    // Sound because `state` is touched under the lock only. What it holds of types that are not Sendable, key paths and
    // default values, is immutable or never changed by this module.
    private let lock = NSLock()
    private var state: State

    init(_ state: State) { self.state = state }

    subscript<Member>(dynamicMember member: WritableKeyPath<State, Member>) -> Member {
        get { lock.withLock { state[keyPath: member] } }
        set { lock.withLock { state[keyPath: member] = newValue } }
    }

    /// All members as they are at one moment.
    var snapshot: State { lock.withLock { state } }
}
