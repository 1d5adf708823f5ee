import Foundation

/// A recorder of operations that can be undone and redone, with the members of Foundation's class of the same name.
///
/// Foundation has its class on Apple's platforms only, and binds it to the main actor there; a context may live on any
/// actor, so this one is used everywhere. Like a context, it belongs to one thread, actor or queue at a time.
///
/// ```swift
/// let undoManager = UndoManager()
/// undoManager.registerUndo(withTarget: lamp) { $0.isOn = false }
/// lamp.isOn = true
/// undoManager.undo()
/// ```
///
/// What is registered while an operation is undone can be redone, and what is registered while it is redone can be
/// undone again. Anything else that is registered ends the possibility to redo.
///
/// It posts the notifications of Foundation's class: `NSUndoManagerDidUndoChange` and the others.
public final class UndoManager {
    /// Whether operations that are registered outside every group form separate groups.
    ///
    /// Foundation's class ends such a group with the turn of the run loop. Without a run loop, the group ends at once.
    /// With false, a group has to be open before anything is registered; a context opens one for its changes by itself.
    public var groupsByEvent = true
    /// How many groups can be undone at most, the oldest being forgotten; 0 for any number.
    public var levelsOfUndo = 0 {
        didSet { forgetOldest() }
    }
    /// Whether operations are being undone right now.
    public private(set) var isUndoing = false
    /// Whether operations are being redone right now.
    public private(set) var isRedoing = false

    private var undoStack: [UndoGroup] = []
    private var redoStack: [UndoGroup] = []
    /// The groups that have been begun and not ended, the innermost last. While operations are undone or redone, the
    /// first is the one that records what reverts them.
    private var openGroups: [UndoGroup] = []
    private var disabledLevel = 0
    private var observers: [WeakObserver] = []

    private struct WeakObserver {
        weak var observer: (any UndoCheckpointObserver)?
    }

    /// Makes an undo manager without operations.
    public init() {}

    // MARK: Registering

    /// Whether operations are recorded: always, except between ``disableUndoRegistration()`` and
    /// ``enableUndoRegistration()``.
    public var isUndoRegistrationEnabled: Bool { disabledLevel == 0 }

    /// Records an operation: `handler` is called with `target` when it is undone. The target is not retained; once it
    /// is gone, the operation does nothing.
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
            precondition(groupsByEvent, "there is no undo group: call beginUndoGrouping first, or set groupsByEvent")
            let group = UndoGroup()
            group.add(action)
            push(group)
        }
    }

    /// Stops recording, until ``enableUndoRegistration()`` has been called as often.
    public func disableUndoRegistration() {
        checkpoint()
        disabledLevel += 1
    }

    /// Records again.
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

    /// How many groups are open, one within the other.
    public var groupingLevel: Int { openGroups.count }

    /// Begins a group: what is registered until its end is undone and redone at once. Groups can be nested.
    public func beginUndoGrouping() {
        checkpoint()
        openGroups.append(UndoGroup())
        post(.didOpenUndoGroup)
    }

    /// Ends the innermost group. An empty one leaves nothing to be undone.
    ///
    /// - Precondition: A group is open.
    public func endUndoGrouping() {
        checkpoint()
        let isRecordingInverse = isUndoing || isRedoing
        precondition(openGroups.count > (isRecordingInverse ? 1 : 0), "there is no undo group to end")
        post(.willCloseUndoGroup)
        push(openGroups.removeLast())
        post(.didCloseUndoGroup)
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

    /// Whether there is anything to undo.
    public var canUndo: Bool {
        checkpoint()
        return !undoStack.isEmpty || openGroups.contains { !$0.isEmpty }
    }

    /// Whether there is anything to redo.
    public var canRedo: Bool {
        checkpoint()
        return !redoStack.isEmpty
    }

    /// Reverts the operations of the last group, after ending it if it is still open. Does nothing if nothing
    /// can be undone, nor from within an operation that is being undone or redone.
    ///
    /// - Precondition: No more than one group is open.
    public func undo() {
        guard !isUndoing, !isRedoing else { return }
        if groupingLevel == 1 { endUndoGrouping() }
        precondition(groupingLevel == 0, "nested undo groups are open: end them, or call undoNestedGroup")
        undoNestedGroup()
    }

    /// Reverts the operations of the last group that has been ended, nested in an open group or not. Does nothing
    /// without such a group, nor from within an operation that is being undone or redone.
    ///
    /// - Precondition: Nothing was registered in the open group since that one was ended.
    public func undoNestedGroup() {
        guard !isUndoing, !isRedoing else { return }
        checkpoint()
        guard let group = openGroups.isEmpty ? undoStack.popLast() : openGroups.last?.removeLastGroup() else { return }
        post(.willUndoChange)
        isUndoing = true
        let inverse = perform(group)
        isUndoing = false
        if !inverse.isEmpty { redoStack.append(inverse) }
        post(.didUndoChange)
    }

    /// Redoes the group that was undone last. Does nothing if nothing can be redone, nor from within an operation that
    /// is being undone or redone.
    public func redo() {
        guard !isUndoing, !isRedoing else { return }
        checkpoint()
        guard let group = redoStack.popLast() else { return }
        post(.willRedoChange)
        isRedoing = true
        let inverse = perform(group)
        isRedoing = false
        push(inverse)
        post(.didRedoChange)
    }

    /// Carries out the operations of a group.
    ///
    /// - Returns: the group of operations that they registered, which reverts them.
    private func perform(_ group: UndoGroup) -> UndoGroup {
        let outer = openGroups
        let inverse = UndoGroup()
        inverse.actionName = group.actionName
        openGroups = [inverse]
        group.perform()
        // Groups that an operation has left open end with it.
        while openGroups.count > 1 { endUndoGrouping() }
        openGroups = outer
        return inverse
    }

    // MARK: Forgetting

    /// Forgets all operations, and records again in case that was disabled. Open groups stay open.
    public func removeAllActions() {
        // Changes that observers have gathered are forgotten, too.
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

    /// What the operation that would be undone is called, for a menu; empty if it has no name.
    public var undoActionName: String {
        checkpoint()
        return (openGroups.first { !$0.isEmpty } ?? undoStack.last)?.actionName ?? ""
    }

    /// What the operation that would be redone is called, for a menu; empty if it has no name.
    public var redoActionName: String {
        checkpoint()
        return redoStack.last?.actionName ?? ""
    }

    /// Names the innermost open group or, where none is open, the last one that was ended.
    public func setActionName(_ actionName: String) {
        checkpoint()
        (openGroups.last ?? undoStack.last)?.actionName = actionName
    }

    /// "Undo", with the name of the operation behind it.
    public var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

    /// "Redo", with the name of the operation behind it.
    public var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// The title of a menu's item that undoes an operation of the name. Not localized.
    public func undoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Undo" : "Undo \(actionName)"
    }

    /// The title of a menu's item that redoes an operation of the name. Not localized.
    public func redoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Redo" : "Redo \(actionName)"
    }

    // MARK: Observers

    /// Makes an observer register its gathered changes at each checkpoint.
    func addObserver(_ observer: any UndoCheckpointObserver) {
        observers.removeAll { $0.observer == nil }
        observers.append(WeakObserver(observer: observer))
    }

    /// Ends ``addObserver(_:)``.
    func removeObserver(_ observer: any UndoCheckpointObserver) {
        observers.removeAll { $0.observer == nil || $0.observer === observer }
    }

    /// Registers the changes that were gathered before groups, the stacks or the registration change or are read.
    private func checkpoint() {
        for observer in observers { observer.observer?.undoManagerReachedCheckpoint(self) }
        post(.checkpoint)
    }

    private func post(_ name: Notification.Name) {
        NotificationCenter.default.post(name: name, object: self)
    }
}

/// An object that gathers changes in order to register them together.
protocol UndoCheckpointObserver: AnyObject {
    /// Registers the gathered changes.
    func undoManagerReachedCheckpoint(_ undoManager: UndoManager)
}
