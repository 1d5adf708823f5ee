import Dispatch
public import Foundation
import Guarded
import ObjectGraph

extension ModelContainer {
    /// Posted after another container, in this or another process, has saved to a file that the container has open. The
    /// notification's object is the container.
    ///
    /// It is posted on any thread, soon after the save, and once for several saves that follow each other shortly. A
    /// context that then fetches or processes its changes has received the saved changes. Saves by contexts of the
    /// container itself do not post it: see ``ModelContext/didSave``.
    ///
    /// If a changed store has a history, `userInfo` has the entry ``ModelContext/NotificationKey/historyTokens`` with
    /// the token of the last transaction, by the identity of the store:
    ///
    /// ```swift
    /// let key = ModelContext.NotificationKey.historyTokens.rawValue
    /// let tokens = notification.userInfo?[key] as? [String: any HistoryToken]
    /// ```
    ///
    /// The first use of the name makes all containers of the process follow other processes.
    public static var remoteChange: Notification.Name {
        RemoteChangeNotifier.beginFollowing()
        return RemoteChangeNotifier.name
    }
}

/// Posts ``ModelContainer/remoteChange`` for the stores of a container.
final class RemoteChangeNotifier: Sendable {
    static let name = Notification.Name("SealedData.ModelContainer.remoteChange")

    private struct State {
        weak var container: ModelContainer?
        var isScheduled = false
        /// The stores with commits that are not posted yet.
        var stores: Set<UUID> = []
        var subscription: CommitSubscription?
    }

    private struct WeakNotifier {
        weak var notifier: RemoteChangeNotifier?
    }

    private struct Notifiers {
        /// Whether the program has ever read the name. If not, no observer can exist.
        var isObserved = false
        var all: [WeakNotifier] = []
    }

    private static let notifiers = Guarded(Notifiers())
    /// Not the thread that announces a commit: an observer may use the container, which may wait for that thread.
    private static let queue = DispatchQueue(label: "SealedData.remoteChange")

    private let coordinator: PersistentStoreCoordinator
    private let state = Guarded(State())

    init(_ coordinator: PersistentStoreCoordinator) {
        self.coordinator = coordinator
        let isObserved = Self.notifiers.withLock { notifiers in
            notifiers.all.removeAll { $0.notifier == nil }
            notifiers.all.append(WeakNotifier(notifier: self))
            return notifiers.isObserved
        }
        if isObserved { follow() }
    }

    /// The container that is the object of the notifications.
    func setContainer(_ container: ModelContainer) { state.withLock { $0.container = container } }

    fileprivate static func beginFollowing() {
        let notifiers = notifiers.withLock { notifiers -> [WeakNotifier] in
            guard !notifiers.isObserved else { return [] }
            notifiers.isObserved = true
            return notifiers.all
        }
        for entry in notifiers { entry.notifier?.follow() }
    }

    private func follow() {
        let subscription = coordinator.followOtherProcesses()
        state.withLock { $0.subscription = subscription }
        coordinator.onCommitByOthers = { [weak self] store, _ in self?.schedulePost(store) }
    }

    private func schedulePost(_ store: UUID) {
        let isFirst = state.withLock { state in
            state.stores.insert(store)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { Self.queue.async { self.post() } }
    }

    private func post() {
        let (container, stores) = state.withLock { state in
            state.isScheduled = false
            defer { state.stores = [] }
            return (state.container, state.stores)
        }
        guard let container else { return }
        // Only stores that have a history have tokens of their last transactions.
        let tokens = StoreHistory.tokens(of: Dictionary(uniqueKeysWithValues: stores.map { ($0, nil) }), coordinator)
        let key = ModelContext.NotificationKey.historyTokens
        let information: [AnyHashable: Any]? = tokens.isEmpty ? nil : [key: tokens, key.rawValue: tokens]
        NotificationCenter.default.post(name: Self.name, object: container, userInfo: information)
    }
}
