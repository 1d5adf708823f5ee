import Guarded
import Synchronization

/// The commits of other contexts and writers that a context has not merged yet.
///
/// A context that is not used takes no commits, and the commits retain the rows of each save. So a commit of origin
/// ``Commit/Origin/overflow`` replaces them when there are too many.
final class ContextInbox: Sendable {
    /// The largest number of commits.
    static let commitLimit = 1000
    /// The largest number of named objects in several commits. A single commit may have more.
    static let objectLimit = 10_000

    private struct State {
        var commits: [Commit] = []
        /// The number of named objects in the commits.
        var size = 0
        var onRemoteChange: (@Sendable () -> Void)?
        /// Whether `onRemoteChange` was called for the commits.
        var isNotified = false

        /// Adds a commit.
        ///
        /// - Returns: the commits that an overflow has replaced.
        mutating func add(_ commit: Commit) -> [Commit] {
            if let last = commits.last, let merged = last.merged(with: commit) {
                size += merged.count - last.count
                commits[commits.count - 1] = merged
            } else {
                size += commit.count
                commits.append(commit)
                if commits.count == 1 { return [] }
            }
            if commits.count <= ContextInbox.commitLimit, size <= ContextInbox.objectLimit { return [] }
            let dropped = commits
            // An erasure also drops unsaved changes, and after a replacement the versions of rows say nothing: both
            // must be kept.
            let erasures = dropped.filter { $0.origin == .erasure }.prefix(1)
            let replacements = dropped.filter(\.isReplacement)
            let replacement = replacements.dropFirst().reduce(replacements.first) { $0?.merged(with: $1) }
            commits = erasures + (replacement.map { [$0] } ?? []) + [Commit.unknown(.overflow)]
            size = 0
            return dropped
        }

        /// Removes and returns the commits.
        mutating func removeAll() -> [Commit] {
            defer { (commits, size, isNotified) = ([], 0, false) }
            return commits
        }
    }

    private let state = Guarded(State())
    private let count = Atomic<Int>(0)

    /// Called for the first commit, and for the first commit after each ``take()``; called at once if there are commits
    /// when it is set.
    var onRemoteChange: (@Sendable () -> Void)? {
        get { state.withLock { $0.onRemoteChange } }
        set {
            state.replace(\.onRemoteChange, with: newValue)
            if !state.withLock({ $0.commits.isEmpty }) { newValue?() }
        }
    }

    /// Whether there are no commits; costs one atomic load.
    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// - Parameter notifies: Whether ``onRemoteChange`` is called; otherwise with the next commit.
    func post(_ commit: Commit, notifies: Bool = true) {
        add(commit, notifies: notifies)?()
    }

    /// Adds a commit without calling the program.
    ///
    /// - Returns: the ``onRemoteChange`` that is to be called, when no lock is held; nil if none is.
    func add(_ commit: Commit, notifies: Bool = true) -> (@Sendable () -> Void)? {
        // The dropped commits are released after the lock.
        let (onRemoteChange, dropped) = state.withLock { state -> ((@Sendable () -> Void)?, [Commit]) in
            let known = state.commits.count
            let dropped = state.add(commit)
            count.wrappingAdd(state.commits.count - known, ordering: .releasing)
            let isFirst = notifies && !state.isNotified
            if isFirst { state.isNotified = true }
            return (isFirst ? state.onRemoteChange : nil, dropped)
        }
        withExtendedLifetime(dropped) {}
        return onRemoteChange
    }

    /// Empties the inbox and returns its commits, oldest first.
    func take() -> [Commit] {
        let taken = state.withLock { $0.removeAll() }
        count.wrappingSubtract(taken.count, ordering: .releasing)
        return taken
    }
}

/// The inboxes of the contexts that receive the commits of one sender, referred to weakly.
struct InboxList: Sendable {
    private struct WeakInbox {
        weak var inbox: ContextInbox?
    }

    private var entries: [WeakInbox] = []

    /// The inboxes of the contexts that still exist, without `sender`.
    func all(except sender: ContextInbox? = nil) -> [ContextInbox] {
        var inboxes: [ContextInbox] = []
        for entry in entries {
            if let inbox = entry.inbox, inbox !== sender { inboxes.append(inbox) }
        }
        return inboxes
    }

    mutating func add(_ inbox: ContextInbox) {
        entries.removeAll { $0.inbox == nil }
        entries.append(WeakInbox(inbox: inbox))
    }
}

extension [ContextInbox] {
    /// Posts a commit to all inboxes.
    func post(_ commit: Commit, notifies: Bool = true) {
        for inbox in self { inbox.post(commit, notifies: notifies) }
    }
}
