#if canImport(Darwin)
    import Foundation
    @_exported public import class Foundation.UndoManager
    import ObjectiveC

    // The compiler binds Foundation's class to the main actor, although its methods work on any thread. An undo manager
    // belongs to the thread, actor or queue of its context, which need not be the main actor. In this module the
    // following members take the place of Foundation's: a module's own members shadow imported ones. They send the same
    // messages without the isolation.

    /// The messages to an undo manager.
    @objc
    private protocol UndoManagerMessages {
        var isUndoRegistrationEnabled: Bool { get }
        var groupsByEvent: Bool { get }
        var groupingLevel: Int { get }
        func beginUndoGrouping()
        func endUndoGrouping()
        func undo()
        func redo()
        @objc(registerUndoWithTarget:handler:)
        func registerUndo(target: AnyObject, handler: @escaping (AnyObject) -> Void)
        @objc(removeAllActionsWithTarget:)
        func removeAllActions(target: AnyObject)
    }

    extension UndoManager {
        /// The undo manager as the receiver of its messages. A value of an Objective-C protocol is the reference to the
        /// object, without a witness table.
        private nonisolated var messages: any UndoManagerMessages {
            unsafeBitCast(self, to: (any UndoManagerMessages).self)
        }

        /// Whether operations are recorded.
        nonisolated var isUndoRegistrationEnabled: Bool { messages.isUndoRegistrationEnabled }

        /// Whether the operations of one turn of the run loop form a group.
        nonisolated var groupsByEvent: Bool { messages.groupsByEvent }

        /// The number of open groups.
        nonisolated var groupingLevel: Int { messages.groupingLevel }

        /// Begins a group.
        nonisolated func beginUndoGrouping() { messages.beginUndoGrouping() }

        /// Ends the innermost group.
        nonisolated func endUndoGrouping() { messages.endUndoGrouping() }

        /// Reverts the operations of the last group.
        nonisolated func undo() { messages.undo() }

        /// Redoes the last undone group.
        nonisolated func redo() { messages.redo() }

        /// Records an operation: `handler` is called with `target` when it is undone. The target is not retained.
        nonisolated func registerUndo<Target: AnyObject>(
            withTarget target: Target,
            handler: @escaping (Target) -> Void
        ) {
            messages.registerUndo(target: target) { target in
                if let target = target as? Target { handler(target) }
            }
        }

        /// Forgets the operations that were registered with a target.
        nonisolated func removeAllActions(withTarget target: AnyObject) { messages.removeAllActions(target: target) }

        // MARK: Observers

        /// Adds an observer, which registers its gathered changes at each checkpoint. An object observes one undo
        /// manager at a time.
        nonisolated func addObserver(_ observer: any UndoCheckpointObserver) {
            let relay = UndoCheckpointRelay(observer)
            // The relay lives as long as the observer. The notification center does not retain it.
            objc_setAssociatedObject(observer, &relayKey, relay, .OBJC_ASSOCIATION_RETAIN)
            NotificationCenter.default.addObserver(
                relay,
                selector: #selector(UndoCheckpointRelay.didReachCheckpoint),
                name: .NSUndoManagerCheckpoint,
                object: self
            )
        }

        /// Removes an observer.
        nonisolated func removeObserver(_ observer: any UndoCheckpointObserver) {
            guard let relay = objc_getAssociatedObject(observer, &relayKey) else { return }
            NotificationCenter.default.removeObserver(relay)
            objc_setAssociatedObject(observer, &relayKey, nil, .OBJC_ASSOCIATION_RETAIN)
        }
    }

    /// The key of an observer's relay.
    ///
    /// `nonisolated(unsafe)`: the value is neither read nor written. The functions of the Objective-C runtime compare the
    /// address, which is constant, and synchronize the associations themselves.
    private nonisolated(unsafe) var relayKey: UInt8 = 0

    /// Receives the checkpoints of an undo manager for an observer.
    private final class UndoCheckpointRelay: NSObject {
        private weak var observer: (any UndoCheckpointObserver)?

        init(_ observer: any UndoCheckpointObserver) {
            self.observer = observer
        }

        /// Foundation posts the notification on the thread that uses the undo manager.
        @objc
        func didReachCheckpoint(_ notification: Notification) {
            guard let undoManager = notification.object as? UndoManager else { return }
            observer?.undoManagerReachedCheckpoint(undoManager)
        }
    }
#endif
