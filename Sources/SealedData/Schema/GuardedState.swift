import Foundation

/// The state of an object that several threads may read and write, each member under a lock.
///
/// The classes of a schema have settable properties, as in SwiftData, and are `Sendable` with their container.
@dynamicMemberLookup
final class GuardedState<State>: @unchecked Sendable {
    // Sound because `state` is only accessed under the lock. Its members of types that are not `Sendable`, key paths
    // and default values, are immutable or never changed by this module.
    private let lock = NSLock()
    private var state: State

    init(_ state: State) { self.state = state }

    subscript<Member>(dynamicMember member: WritableKeyPath<State, Member>) -> Member {
        get { lock.withLock { state[keyPath: member] } }
        set { lock.withLock { state[keyPath: member] = newValue } }
    }

    /// A consistent copy of all members.
    var snapshot: State { lock.withLock { state } }
}
