#if !canImport(Darwin)
    /// Operations that are undone and redone together.
    final class UndoGroup {
        private enum Entry {
            case action(UndoAction)
            case group(UndoGroup)
        }

        private var entries: [Entry] = []
        /// The name of the operations; empty for no name.
        var actionName = ""

        /// Whether the group has no operations.
        var isEmpty: Bool { entries.isEmpty }

        /// Adds an operation.
        func add(_ action: UndoAction) { entries.append(.action(action)) }

        /// Adds a nested group. A group without a name takes the name of the nested group.
        func add(_ group: UndoGroup) {
            entries.append(.group(group))
            if actionName.isEmpty { actionName = group.actionName }
        }

        /// Removes and returns the last nested group; nil if the group is empty.
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

        /// Runs the operations, the last one first.
        func perform() {
            for entry in entries.reversed() {
                switch entry {
                case .action(let action): action.perform()
                case .group(let group): group.perform()
                }
            }
        }

        /// Removes the operations for which `condition` holds, and the groups that become empty.
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
        /// The target with which it was registered.
        let target: ObjectIdentifier
        /// Reverts the operation.
        let perform: () -> Void

        init(target: AnyObject, perform: @escaping () -> Void) {
            self.target = ObjectIdentifier(target)
            self.perform = perform
        }
    }
#endif
