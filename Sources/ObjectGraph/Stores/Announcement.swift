import Guarded
import Synchronization

/// A change that one context announces to the others.
enum Announcement: Sendable {
    /// Changes were saved.
    case save(SaveChangesRequest)
    /// A batch request about an entity was executed.
    case batch(BatchChanges, of: Entity)
    /// Another coordinator, in this or another process, has committed changes; nil if it is unknown which.
    case external(CommittedChanges?)
    /// The stores were erased.
    case erasure
    /// The parent reverted or undid unsaved changes.
    case revert

    /// One announcement with the effect of this one and a later one; nil if they stay separate.
    ///
    /// A context that is not used for some time receives hundreds of commits of other processes as one.
    func merged(with later: Announcement) -> Announcement? {
        guard case .external(let changes) = self, case .external(let laterChanges) = later else { return nil }
        guard var changes, let laterChanges else { return .external(nil) }
        changes.add(laterChanges)
        return .external(changes)
    }
}

/// The announcements of other contexts that a context has not taken yet.
final class ContextInbox: Sendable {
    private struct State {
        var announcements: [Announcement] = []
        var onRemoteChange: (@Sendable () -> Void)?
    }

    private let state = Guarded(State())
    private let count = Atomic<Int>(0)

    /// Called for the first announcement, and for the first one after each ``take()``; at once if there are some when it
    /// is set.
    var onRemoteChange: (@Sendable () -> Void)? {
        get { state.withLock { $0.onRemoteChange } }
        set {
            let isEmpty = state.withLock { state in
                state.onRemoteChange = newValue
                return state.announcements.isEmpty
            }
            if !isEmpty { newValue?() }
        }
    }

    /// Whether there are no announcements; costs one atomic load.
    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    func post(_ announcement: Announcement) {
        let onRemoteChange = state.withLock { state in
            if let merged = state.announcements.last?.merged(with: announcement) {
                state.announcements[state.announcements.count - 1] = merged
                return nil as (@Sendable () -> Void)?
            }
            state.announcements.append(announcement)
            count.wrappingAdd(1, ordering: .releasing)
            return state.announcements.count == 1 ? state.onRemoteChange : nil
        }
        onRemoteChange?()
    }

    /// Empties the inbox and returns its announcements, oldest first.
    func take() -> [Announcement] {
        let taken = state.withLock { state in
            defer { state.announcements = [] }
            return state.announcements
        }
        count.wrappingSubtract(taken.count, ordering: .releasing)
        return taken
    }
}

/// The inboxes of the contexts that receive the announcements of one sender, referred to weakly.
struct InboxList: Sendable {
    private struct WeakInbox {
        weak var inbox: ContextInbox?
    }

    private var entries: [WeakInbox] = []

    /// The inboxes of the contexts that still exist.
    var inboxes: [ContextInbox] { entries.compactMap(\.inbox) }

    mutating func add(_ inbox: ContextInbox) {
        entries.removeAll { $0.inbox == nil }
        entries.append(WeakInbox(inbox: inbox))
    }
}

extension [ContextInbox] {
    /// Posts an announcement to all inboxes but `sender`.
    func post(_ announcement: Announcement, except sender: ContextInbox?) {
        for inbox in self where inbox !== sender { inbox.post(announcement) }
    }
}
