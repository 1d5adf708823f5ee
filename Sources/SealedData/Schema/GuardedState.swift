import Guarded

/// The state of an object that several threads may read and write, each member under a lock.
///
/// The classes of a schema have settable properties, as in SwiftData, and are `Sendable` with their container.
///
/// `@unchecked Sendable`: the property is a constant, and the state is accessed under its lock only. The members that
/// leave the lock and are not `Sendable` are key paths, which are immutable, and default values, which this module never
/// changes.
@dynamicMemberLookup
final class GuardedState<State>: @unchecked Sendable {
    private let state: Guarded<State>

    init(_ state: State) { self.state = Guarded(state) }

    subscript<Member>(dynamicMember member: WritableKeyPath<State, Member>) -> Member {
        get { state.withLock { $0[keyPath: member] } }
        set { state.withLock { $0[keyPath: member] = newValue } }
    }

    /// A consistent copy of all members.
    var snapshot: State { state.withLock { $0 } }
}
