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
    /// The file of a store may have been replaced by a copy from an earlier time: any object of the root entities at
    /// these positions may have changed, whatever the version of its row.
    case replacement(Set<Int>)
    /// The stores were erased.
    case erasure
    /// The parent reverted or undid unsaved changes.
    case revert
    /// Announcements were dropped, since there were too many: any object may have changed.
    case overflow

    /// One announcement with the effect of this one and a later one; nil if they stay separate.
    ///
    /// A context that is not used for some time receives hundreds of commits of other processes as one.
    func merged(with later: Announcement) -> Announcement? {
        switch (self, later) {
        case (.external(let known), .external(let added)):
            guard var changes = known, let laterChanges = added else { return .external(nil) }
            changes.add(laterChanges)
            return .external(changes)
        case (.replacement(let roots), .replacement(let others)): return .replacement(roots.union(others))
        // Its receiver reads the state of the stores after all later changes.
        case (.overflow, .save), (.overflow, .batch), (.overflow, .external), (.overflow, .revert),
            (.overflow, .overflow):
            return .overflow
        default: return nil
        }
    }

    /// The number of rows and keys in the announcement.
    fileprivate var size: Int {
        switch self {
        case .save(let request):
            request.memberships.reduce(request.inserted.count + request.updated.count + request.deleted.count) {
                $0 + $1.added.count + $1.removed.count + ($1.order?.count ?? 0)
            }
        case .batch(let changes, _):
            (changes.updated + changes.cleared + changes.deleted).reduce(0) { $0 + $1.keys.count }
        case .external(let changes?): changes.roots.values.reduce(0) { $0 + $1.objects.count }
        case .external(nil), .replacement, .erasure, .revert, .overflow: 0
        }
    }

    fileprivate var isErasure: Bool { if case .erasure = self { true } else { false } }

    /// The root entities of a replacement; empty for another announcement.
    fileprivate var replacedRoots: Set<Int> { if case .replacement(let roots) = self { roots } else { [] } }
}

/// The announcements of other contexts that a context has not taken yet.
///
/// A context that is not used takes none, and the announcements retain the rows of each save. So an
/// ``Announcement/overflow`` replaces them when there are too many.
final class ContextInbox: Sendable {
    /// The largest number of announcements.
    static let announcementLimit = 1000
    /// The largest number of rows and keys of several announcements. A single one may have more.
    static let rowLimit = 10_000

    private struct State {
        var announcements: [Announcement] = []
        /// The number of rows and keys in the announcements.
        var size = 0
        var onRemoteChange: (@Sendable () -> Void)?
        /// Whether `onRemoteChange` was called for the announcements.
        var isNotified = false

        /// Adds an announcement.
        ///
        /// - Returns: the announcements that an overflow has replaced.
        mutating func add(_ announcement: Announcement) -> [Announcement] {
            if let last = announcements.last, let merged = last.merged(with: announcement) {
                size += merged.size - last.size
                announcements[announcements.count - 1] = merged
            } else {
                size += announcement.size
                announcements.append(announcement)
                if announcements.count == 1 { return [] }
            }
            if announcements.count <= ContextInbox.announcementLimit, size <= ContextInbox.rowLimit { return [] }
            let dropped = announcements
            let replaced = dropped.reduce(into: Set()) { $0.formUnion($1.replacedRoots) }
            // An erasure drops unsaved changes, too, and after a replacement the versions of rows say nothing.
            announcements =
                (dropped.contains(where: \.isErasure) ? [.erasure] : [])
                + (replaced.isEmpty ? [] : [.replacement(replaced)]) + [.overflow]
            size = 0
            return dropped
        }

        /// Removes and returns the announcements.
        mutating func removeAll() -> [Announcement] {
            defer { (announcements, size, isNotified) = ([], 0, false) }
            return announcements
        }
    }

    private let state = Guarded(State())
    private let count = Atomic<Int>(0)

    /// Called for the first announcement, and for the first one after each ``take()``; at once if there are some when
    /// it is set.
    var onRemoteChange: (@Sendable () -> Void)? {
        get { state.withLock { $0.onRemoteChange } }
        set {
            state.replace(\.onRemoteChange, with: newValue)
            if !state.withLock({ $0.announcements.isEmpty }) { newValue?() }
        }
    }

    /// Whether there are no announcements; costs one atomic load.
    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// - Parameter notifies: Whether ``onRemoteChange`` is called; otherwise with the next announcement.
    func post(_ announcement: Announcement, notifies: Bool = true) {
        add(announcement, notifies: notifies)?()
    }

    /// Adds an announcement without calling the program.
    ///
    /// - Returns: the ``onRemoteChange`` that is to be called, when no lock is held; nil if none is.
    func add(_ announcement: Announcement, notifies: Bool = true) -> (@Sendable () -> Void)? {
        // The dropped announcements are released after the lock.
        let (onRemoteChange, dropped) = state.withLock { state -> ((@Sendable () -> Void)?, [Announcement]) in
            let known = state.announcements.count
            let dropped = state.add(announcement)
            count.wrappingAdd(state.announcements.count - known, ordering: .releasing)
            let isFirst = notifies && !state.isNotified
            if isFirst { state.isNotified = true }
            return (isFirst ? state.onRemoteChange : nil, dropped)
        }
        withExtendedLifetime(dropped) {}
        return onRemoteChange
    }

    /// Empties the inbox and returns its announcements, oldest first.
    func take() -> [Announcement] {
        let taken = state.withLock { $0.removeAll() }
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
    /// Posts an announcement to all inboxes.
    func post(_ announcement: Announcement, notifies: Bool = true) {
        for inbox in self { inbox.post(announcement, notifies: notifies) }
    }
}
