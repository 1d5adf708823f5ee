/// A state of a store that can be read for as long as somebody refers to it, whatever is saved meanwhile.
///
/// What it is made of only the store knows.
public protocol QueryGeneration: AnyObject, Sendable {}

/// Which state of its stores a context reads.
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

    /// The state that the stores have when the token is given to a context.
    public static let current = QueryGenerationToken(state: .current)

    private init(state: State) {
        self.state = state
    }

    init(_ generations: [any QueryGeneration]) {
        state = .pinned(Pinned(generations))
    }

    /// The states of the stores; none for ``current``, and for stores that keep no states.
    public var generations: [any QueryGeneration] {
        if case .pinned(let pinned) = state { pinned.generations } else { [] }
    }

    /// Whether this is ``current``.
    var isCurrent: Bool { if case .current = state { true } else { false } }
}

extension QueryGenerationToken: Hashable {
    /// Whether both stand for the same state, obtained at the same time.
    public static func == (left: QueryGenerationToken, right: QueryGenerationToken) -> Bool {
        left.identity == right.identity
    }

    /// Hashes the identity of the state.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }

    private var identity: ObjectIdentifier? {
        if case .pinned(let pinned) = state { ObjectIdentifier(pinned) } else { nil }
    }
}
