/// Operations that are undone and redone at once.
final class UndoGroup {
    private enum Entry {
        case action(UndoAction)
        case group(UndoGroup)
    }

    private var entries: [Entry] = []
    /// What the operations are called together; empty for no name.
    var actionName = ""

    /// Whether there is nothing to undo.
    var isEmpty: Bool { entries.isEmpty }

    /// Adds an operation.
    func add(_ action: UndoAction) { entries.append(.action(action)) }

    /// Adds a nested group, which gives its name to this one if it has none.
    func add(_ group: UndoGroup) {
        entries.append(.group(group))
        if actionName.isEmpty { actionName = group.actionName }
    }

    /// Takes the nested group out that was added last; nil if there is nothing in this one.
    ///
    /// - Precondition: No operation was added after it.
    func removeLastGroup() -> UndoGroup? {
        guard let last = entries.last else { return nil }
        guard case .group(let group) = last else {
            preconditionFailure("the open undo group has operations of its own: end it before it is undone")
        }
        entries.removeLast()
        return group
    }

    /// Carries out the operations, the last one first.
    func perform() {
        for entry in entries.reversed() {
            switch entry {
            case .action(let action): action.perform()
            case .group(let group): group.perform()
            }
        }
    }

    /// Removes the operations for which `condition` holds, and the groups that have none left.
    func removeAll(where condition: (UndoAction) -> Bool) {
        entries.removeAll { entry in
            switch entry {
            case .action(let action): return condition(action)
            case .group(let group):
                group.removeAll(where: condition)
                return group.isEmpty
            }
        }
    }
}

/// An operation that can be undone.
struct UndoAction {
    /// The target that it was registered with.
    let target: ObjectIdentifier
    /// Reverts it.
    let perform: () -> Void

    init(target: AnyObject, perform: @escaping () -> Void) {
        self.target = ObjectIdentifier(target)
        self.perform = perform
    }
}
