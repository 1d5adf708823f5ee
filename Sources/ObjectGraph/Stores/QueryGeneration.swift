/// A state of a store that can be read while a reference to it exists, regardless of later saves.
///
/// Its content is private to the store.
public protocol QueryGeneration: AnyObject, Sendable {}

/// A state of the stores of a context.
public struct QueryGenerationToken: Sendable {
    private enum State {
        case current
        case pinned(Pinned)
    }

    private final class Pinned: Sendable {
        let generations: [any QueryGeneration]

        init(_ generations: [any QueryGeneration]) {
            self.generations = generations
        }
    }

    private let state: State

    /// The state of the stores at the time when a context is pinned to the token.
    public static let current = QueryGenerationToken(state: .current)

    private init(state: State) {
        self.state = state
    }

    init(_ generations: [any QueryGeneration]) {
        state = .pinned(Pinned(generations))
    }

    /// The states of the stores; empty for ``current``. Stores without snapshots are omitted.
    public var generations: [any QueryGeneration] {
        if case .pinned(let pinned) = state { pinned.generations } else { [] }
    }

    /// Whether this is ``current``.
    var isCurrent: Bool { if case .current = state { true } else { false } }
}

extension QueryGenerationToken: Hashable {
    /// Whether both represent the same state, obtained at the same time.
    public static func == (left: QueryGenerationToken, right: QueryGenerationToken) -> Bool {
        left.identity == right.identity
    }

    /// Hashes the identity of the state.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }

    private var identity: ObjectIdentifier? {
        if case .pinned(let pinned) = state { ObjectIdentifier(pinned) } else { nil }
    }
}
