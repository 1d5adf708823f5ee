import Guarded

/// The state of an object that several threads may read and write, each member under a lock.
///
/// The classes of a schema have settable properties, as in SwiftData, and are `Sendable` with their container. The
/// members of types that are not `Sendable`, key paths and default values, are immutable or never changed by this
/// module.
@dynamicMemberLookup
final class GuardedState<State>: Sendable {
    private let state: Guarded<State>

    init(_ state: State) { self.state = Guarded(state) }

    subscript<Member>(dynamicMember member: WritableKeyPath<State, Member>) -> Member {
        get { state.withLock { $0[keyPath: member] } }
        set { state.withLock { $0[keyPath: member] = newValue } }
    }

    /// A consistent copy of all members.
    var snapshot: State { state.withLock { $0 } }
}
