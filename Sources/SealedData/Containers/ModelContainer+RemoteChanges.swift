import Dispatch
public import Foundation
import Guarded
import ObjectGraph

extension ModelContainer {
    /// Posted after another container, in this or another process, has saved to a file that the container has open. The
    /// notification's object is the container.
    ///
    /// It is posted on any thread, soon after the save, and once for several saves that follow each other shortly. A
    /// context that processes its changes then, or fetches, has received the saved ones. Saves by contexts of the
    /// container itself do not post it: see ``ModelContext/didSave``.
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
        var following: StoreFollowing?
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
    /// Not the thread that announces a commit: an observer may use the container, and wait for that thread.
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
        let following = coordinator.followOtherProcesses()
        state.withLock { $0.following = following }
        coordinator.onCommitByOthers = { [weak self] in self?.schedulePost() }
    }

    private func schedulePost() {
        let isFirst = state.withLock { state in
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { Self.queue.async { self.post() } }
    }

    private func post() {
        let container = state.withLock { state in
            state.isScheduled = false
            return state.container
        }
        if let container { NotificationCenter.default.post(name: Self.name, object: container) }
    }
}
