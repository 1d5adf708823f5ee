import Guarded
import Synchronization

/// What one context tells the others of.
enum Announcement: Sendable {
    /// Changes were saved.
    case save(SaveChangesRequest)
    /// A batch request was carried out.
    case batch(BatchChanges)
    /// The stores were erased.
    case erasure
    /// The parent dropped unsaved changes, or has undone them.
    case revert
}

/// Where a context finds what others saved.
final class ContextInbox: Sendable {
    private struct State {
        var announcements: [Announcement] = []
        var didGetNews: (@Sendable () -> Void)?
    }

    private let state = Guarded(State())
    private let count = Atomic<Int>(0)

    /// Called for the first announcement, and for the first one after each ``take()``.
    var didGetNews: (@Sendable () -> Void)? {
        get { state.withLock { $0.didGetNews } }
        set { state.withLock { $0.didGetNews = newValue } }
    }

    /// Whether something may have arrived; cheap.
    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    func post(_ announcement: Announcement) {
        let didGetNews = state.withLock { state in
            state.announcements.append(announcement)
            return state.announcements.count == 1 ? state.didGetNews : nil
        }
        count.wrappingAdd(1, ordering: .releasing)
        didGetNews?()
    }

    /// Empties the inbox and returns what was in it, oldest first.
    func take() -> [Announcement] {
        let taken = state.withLock { state in
            defer { state.announcements = [] }
            return state.announcements
        }
        count.wrappingSubtract(taken.count, ordering: .releasing)
        return taken
    }
}

/// The inboxes of the contexts that hear of what happens in one place, as long as those contexts live.
struct InboxList: Sendable {
    private struct WeakInbox {
        weak var inbox: ContextInbox?
    }

    private var entries: [WeakInbox] = []

    /// The inboxes of the contexts that are there.
    var inboxes: [ContextInbox] { entries.compactMap(\.inbox) }

    mutating func add(_ inbox: ContextInbox) {
        entries.removeAll { $0.inbox == nil }
        entries.append(WeakInbox(inbox: inbox))
    }
}

extension [ContextInbox] {
    /// Tells all contexts but the one with inbox `sender`.
    func post(_ announcement: Announcement, except sender: ContextInbox?) {
        for inbox in self where inbox !== sender { inbox.post(announcement) }
    }
}
