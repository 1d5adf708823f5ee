#if !canImport(Darwin)
    import Foundation

    /// A recorder of operations that can be undone and redone, with the members of Foundation's class of the same name.
    ///
    /// Foundation has its class on Apple's platforms only. This class takes its place on other platforms. Like a
    /// context, it belongs to one thread, actor or queue at a time.
    ///
    /// ```swift
    /// let undoManager = UndoManager()
    /// undoManager.registerUndo(withTarget: lamp) { $0.isOn = false }
    /// lamp.isOn = true
    /// undoManager.undo()
    /// ```
    ///
    /// Operations that are registered during an undo can be redone, and operations that are registered during a redo
    /// can be undone again. Registering any other operation removes the operations that could be redone.
    ///
    /// It posts the notifications of Foundation's class, such as `NSUndoManagerDidUndoChange`.
    public final class UndoManager {
        /// Whether operations that are registered outside all groups form separate groups.
        ///
        /// Foundation's class ends such a group with the turn of the run loop. Without a run loop, the group ends at
        /// once. If it is false, a group must be open when an operation is registered; a context opens a group for its
        /// changes.
        public var groupsByEvent = true
        /// The maximum number of groups that can be undone, beyond which the oldest group is forgotten; 0 for no limit.
        public var levelsOfUndo = 0 {
            didSet { forgetOldest() }
        }
        /// Whether operations are being undone.
        public private(set) var isUndoing = false
        /// Whether operations are being redone.
        public private(set) var isRedoing = false

        private var undoStack: [UndoGroup] = []
        private var redoStack: [UndoGroup] = []
        /// The open groups, the innermost last. During an undo or redo, the first group records the operations that
        /// revert it.
        private var openGroups: [UndoGroup] = []
        private var disabledLevel = 0
        private var observers: [WeakObserver] = []

        private struct WeakObserver {
            weak var observer: (any UndoCheckpointObserver)?
        }

        /// Creates an undo manager without operations.
        public init() {}

        // MARK: Registering

        /// Whether operations are recorded: always, except between ``disableUndoRegistration()`` and
        /// ``enableUndoRegistration()``.
        public var isUndoRegistrationEnabled: Bool { disabledLevel == 0 }

        /// Records an operation: `handler` is called with `target` when it is undone. The target is not retained; after
        /// it is deallocated, the operation does nothing.
        ///
        /// - Precondition: A group is open, or ``groupsByEvent`` is true.
        public func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void) {
            guard isUndoRegistrationEnabled else { return }
            let action = UndoAction(target: target) { [weak target] in
                if let target { handler(target) }
            }
            if !isUndoing, !isRedoing { redoStack = [] }
            if let group = openGroups.last {
                group.add(action)
            } else {
                precondition(
                    groupsByEvent,
                    "there is no undo group: call beginUndoGrouping first, or set groupsByEvent"
                )
                let group = UndoGroup()
                group.add(action)
                push(group)
            }
        }

        /// Disables recording, until ``enableUndoRegistration()`` has been called equally often.
        public func disableUndoRegistration() {
            checkpoint()
            disabledLevel += 1
        }

        /// Enables recording.
        ///
        /// - Precondition: ``disableUndoRegistration()`` was called before.
        public func enableUndoRegistration() {
            precondition(
                disabledLevel > 0,
                "undo registration is enabled already: each call goes with one that disabled it"
            )
            checkpoint()
            disabledLevel -= 1
        }

        // MARK: Groups

        /// The number of open groups, which are nested.
        public var groupingLevel: Int { openGroups.count }

        /// Begins a group: operations that are registered before its end are undone and redone together. Groups can be
        /// nested.
        public func beginUndoGrouping() {
            checkpoint()
            openGroups.append(UndoGroup())
            post(.NSUndoManagerDidOpenUndoGroup)
        }

        /// Ends the innermost group. An empty group cannot be undone.
        ///
        /// - Precondition: A group is open.
        public func endUndoGrouping() {
            checkpoint()
            let isRecordingInverse = isUndoing || isRedoing
            precondition(openGroups.count > (isRecordingInverse ? 1 : 0), "there is no undo group to end")
            post(.NSUndoManagerWillCloseUndoGroup)
            push(openGroups.removeLast())
            post(.NSUndoManagerDidCloseUndoGroup)
        }

        /// Adds a complete group to its outer group or to the undo stack.
        private func push(_ group: UndoGroup) {
            guard !group.isEmpty else { return }
            if let outer = openGroups.last {
                outer.add(group)
            } else {
                undoStack.append(group)
                forgetOldest()
            }
        }

        private func forgetOldest() {
            guard levelsOfUndo > 0 else { return }
            undoStack.removeFirst(max(0, undoStack.count - levelsOfUndo))
            redoStack.removeFirst(max(0, redoStack.count - levelsOfUndo))
        }

        // MARK: Undoing and redoing

        /// Whether there are operations to undo.
        public var canUndo: Bool {
            checkpoint()
            return !undoStack.isEmpty || openGroups.contains { !$0.isEmpty }
        }

        /// Whether there are operations to redo.
        public var canRedo: Bool {
            checkpoint()
            return !redoStack.isEmpty
        }

        /// Reverts the operations of the last group, after ending it if it is still open. Does nothing if no group can
        /// be undone, or during an undo or redo.
        ///
        /// - Precondition: No more than one group is open.
        public func undo() {
            guard !isUndoing, !isRedoing else { return }
            if groupingLevel == 1 { endUndoGrouping() }
            precondition(groupingLevel == 0, "nested undo groups are open: end them, or call undoNestedGroup")
            undoNestedGroup()
        }

        /// Reverts the operations of the last ended group, nested in an open group or not. Does nothing without such a
        /// group, or during an undo or redo.
        ///
        /// - Precondition: No operation was registered in the open group since the nested group ended.
        public func undoNestedGroup() {
            guard !isUndoing, !isRedoing else { return }
            checkpoint()
            let last = openGroups.isEmpty ? undoStack.popLast() : openGroups.last?.removeLastGroup()
            guard let group = last else { return }
            post(.NSUndoManagerWillUndoChange)
            isUndoing = true
            let inverse = perform(group)
            isUndoing = false
            if !inverse.isEmpty { redoStack.append(inverse) }
            post(.NSUndoManagerDidUndoChange)
        }

        /// Redoes the last undone group. Does nothing if no group can be redone, or during an undo or redo.
        public func redo() {
            guard !isUndoing, !isRedoing else { return }
            checkpoint()
            guard let group = redoStack.popLast() else { return }
            post(.NSUndoManagerWillRedoChange)
            isRedoing = true
            let inverse = perform(group)
            isRedoing = false
            push(inverse)
            post(.NSUndoManagerDidRedoChange)
        }

        /// Runs the operations of a group.
        ///
        /// - Returns: the group of operations that they registered, which reverts them.
        private func perform(_ group: UndoGroup) -> UndoGroup {
            let outer = openGroups
            let inverse = UndoGroup()
            inverse.actionName = group.actionName
            openGroups = [inverse]
            group.perform()
            // Ends groups that an operation has left open.
            while openGroups.count > 1 { endUndoGrouping() }
            openGroups = outer
            return inverse
        }

        // MARK: Forgetting

        /// Forgets all operations, and enables recording. Open groups stay open.
        public func removeAllActions() {
            // The changes that observers have gathered are forgotten, too.
            checkpoint()
            undoStack = []
            redoStack = []
            for group in openGroups { group.removeAll { _ in true } }
            disabledLevel = 0
        }

        /// Forgets the operations that were registered with a target.
        public func removeAllActions(withTarget target: AnyObject) {
            let target = ObjectIdentifier(target)
            for group in undoStack + redoStack + openGroups { group.removeAll { $0.target == target } }
            undoStack.removeAll(where: \.isEmpty)
            redoStack.removeAll(where: \.isEmpty)
        }

        // MARK: Names

        /// The name of the operation that would be undone, for a menu; empty if it has no name.
        public var undoActionName: String {
            checkpoint()
            return (openGroups.first { !$0.isEmpty } ?? undoStack.last)?.actionName ?? ""
        }

        /// The name of the operation that would be redone, for a menu; empty if it has no name.
        public var redoActionName: String {
            checkpoint()
            return redoStack.last?.actionName ?? ""
        }

        /// Names the innermost open group or, if no group is open, the last ended group.
        public func setActionName(_ actionName: String) {
            checkpoint()
            (openGroups.last ?? undoStack.last)?.actionName = actionName
        }

        /// "Undo", followed by the name of the operation.
        public var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

        /// "Redo", followed by the name of the operation.
        public var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

        /// The title of a menu item that undoes an operation with the name. Not localized.
        public func undoMenuTitle(forUndoActionName actionName: String) -> String {
            actionName.isEmpty ? "Undo" : "Undo \(actionName)"
        }

        /// The title of a menu item that redoes an operation with the name. Not localized.
        public func redoMenuTitle(forUndoActionName actionName: String) -> String {
            actionName.isEmpty ? "Redo" : "Redo \(actionName)"
        }

        // MARK: Observers

        /// Adds an observer, which registers its gathered changes at each checkpoint.
        func addObserver(_ observer: any UndoCheckpointObserver) {
            observers.removeAll { $0.observer == nil }
            observers.append(WeakObserver(observer: observer))
        }

        /// Removes an observer.
        func removeObserver(_ observer: any UndoCheckpointObserver) {
            observers.removeAll { $0.observer == nil || $0.observer === observer }
        }

        /// Registers the gathered changes before groups, the stacks or the registration change or are read.
        private func checkpoint() {
            for observer in observers { observer.observer?.undoManagerReachedCheckpoint(self) }
            post(.NSUndoManagerCheckpoint)
        }

        private func post(_ name: Notification.Name) {
            NotificationCenter.default.post(name: name, object: self)
        }
    }
#endif
