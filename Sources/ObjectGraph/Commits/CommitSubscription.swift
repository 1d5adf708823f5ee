package import Foundation
import Guarded

/// Makes a coordinator's stores notice the commits of other processes, until it is released.
package final class CommitSubscription: Sendable {
    private let followers: SharedStores

    init(_ followers: SharedStores) {
        self.followers = followers
        followers.begin()
    }

    deinit { followers.end() }
}

/// The stores of a coordinator that other writers can change, and the number of parts of the program that follow them.
final class SharedStores: Sendable {
    private struct State {
        var stores: [any SharedStore] = []
        var count = 0
        var onCommit: (@Sendable (UUID, Commit) -> Void)?
    }

    private let state = Guarded(State())

    /// Called after commits of other coordinators to a store were passed on to the contexts, on any thread.
    var onCommit: (@Sendable (UUID, Commit) -> Void)? {
        get { state.withLock { $0.onCommit } }
        set { state.replace(\.onCommit, with: newValue) }
    }

    func add(_ store: any SharedStore) {
        let isFollowed = state.withLock { state in
            state.stores.append(store)
            return state.count > 0
        }
        if isFollowed { store.beginFollowing() }
    }

    func removeAll() {
        let followed = state.withLock { state in
            defer { state.stores = [] }
            return state.count > 0 ? state.stores : []
        }
        for store in followed { store.endFollowing() }
    }

    func begin() {
        let stores = state.withLock { state in
            state.count += 1
            return state.count == 1 ? state.stores : []
        }
        for store in stores { store.beginFollowing() }
    }

    func end() {
        let stores = state.withLock { state in
            state.count -= 1
            return state.count == 0 ? state.stores : []
        }
        for store in stores { store.endFollowing() }
    }
}

extension PersistentStoreCoordinator {
    /// Makes the stores notice the commits of other processes, until the result is released. The contexts receive them
    /// as they receive the saves of other contexts.
    package func followOtherProcesses() -> CommitSubscription { CommitSubscription(sharedStores) }

    /// Called after commits of other coordinators, in this or another process, to a store were passed on to
    /// the contexts, on any thread.
    package var onCommitByOthers: (@Sendable (_ store: UUID, Commit) -> Void)? {
        get { sharedStores.onCommit }
        set { sharedStores.onCommit = newValue }
    }

    /// Passes the commits of other coordinators to a store with some entities on to the contexts.
    func follow(_ store: any SharedStore, _ entities: [Entity]) {
        let uuid = store.metadata.uuid
        store.onCommitByOthers { [weak self] commit in
            guard let self else { return {} }
            var commit = commit
            if commit.isUnknown { commit.restrictUnknown(to: entities.lazy.filter(\.isRoot)) }
            guard !commit.isEmpty else { return {} }
            let isNotified = commit.origin != .replacement(isOpen: false)
            let callObservers = add(commit, notifies: isNotified)
            guard isNotified else { return callObservers }
            return { [sharedStores, commit] in
                callObservers()
                sharedStores.onCommit?(uuid, commit)
            }
        }
        sharedStores.add(store)
    }
}
