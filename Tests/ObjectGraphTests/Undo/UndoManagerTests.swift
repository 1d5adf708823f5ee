import Foundation
import ObjectGraph
import Testing

@Suite struct UndoManagerTests {
    /// A number whose changes can be undone.
    private final class Counter {
        let undoManager: UndoManager
        private(set) var value = 0

        init(_ undoManager: UndoManager) {
            self.undoManager = undoManager
        }

        func set(_ new: Int) {
            let old = value
            undoManager.registerUndo(withTarget: self) { $0.set(old) }
            value = new
        }
    }

    @Test func `undone operations can be redone any number of times`() {
        let undoManager = UndoManager()
        let counter = Counter(undoManager)
        #expect(!undoManager.canUndo && !undoManager.canRedo)
        counter.set(1)
        counter.set(2)
        for _ in 0..<3 {
            undoManager.undo()
            #expect(counter.value == 1)
            undoManager.undo()
            #expect(counter.value == 0)
            #expect(!undoManager.canUndo && undoManager.canRedo)
            undoManager.undo()
            undoManager.redo()
            #expect(counter.value == 1)
            undoManager.redo()
            #expect(counter.value == 2)
            #expect(undoManager.canUndo && !undoManager.canRedo)
            undoManager.redo()
        }
    }

    @Test func `a new operation clears the redo stack`() {
        let undoManager = UndoManager()
        let counter = Counter(undoManager)
        counter.set(1)
        undoManager.undo()
        counter.set(2)
        #expect(!undoManager.canRedo)
        undoManager.redo()
        #expect(counter.value == 2)
    }

    @Test func `a group is undone as a whole, last operation first`() {
        let undoManager = UndoManager()
        let log = NSMutableArray()
        undoManager.beginUndoGrouping()
        for name in ["a", "b"] { undoManager.registerUndo(withTarget: log) { $0.add(name) } }
        undoManager.beginUndoGrouping()
        #expect(undoManager.groupingLevel == 2)
        for name in ["c", "d"] { undoManager.registerUndo(withTarget: log) { $0.add(name) } }
        undoManager.endUndoGrouping()
        undoManager.endUndoGrouping()
        #expect(undoManager.groupingLevel == 0)
        undoManager.undo()
        #expect(log as? [String] == ["d", "c", "b", "a"])
        #expect(!undoManager.canUndo)
    }

    @Test func `undo ends a group that is open`() {
        let undoManager = UndoManager()
        let counter = Counter(undoManager)
        undoManager.beginUndoGrouping()
        counter.set(1)
        counter.set(2)
        #expect(undoManager.canUndo)
        undoManager.undo()
        #expect(undoManager.groupingLevel == 0)
        #expect(counter.value == 0)
        undoManager.redo()
        #expect(counter.value == 2)
    }

    @Test func `a nested group can be undone on its own`() {
        let undoManager = UndoManager()
        let counter = Counter(undoManager)
        undoManager.beginUndoGrouping()
        counter.set(1)
        undoManager.beginUndoGrouping()
        counter.set(2)
        counter.set(3)
        undoManager.endUndoGrouping()
        undoManager.undoNestedGroup()
        #expect(counter.value == 1)
        undoManager.redo()
        #expect(counter.value == 3)
        undoManager.endUndoGrouping()
        undoManager.undo()
        #expect(counter.value == 0)
    }

    @Test func `an empty group is dropped`() {
        let undoManager = UndoManager()
        let counter = Counter(undoManager)
        counter.set(1)
        undoManager.beginUndoGrouping()
        undoManager.beginUndoGrouping()
        undoManager.endUndoGrouping()
        undoManager.endUndoGrouping()
        undoManager.undo()
        #expect(counter.value == 0)
    }

    @Test func `levelsOfUndo limits the number of groups`() {
        let undoManager = UndoManager()
        let counter = Counter(undoManager)
        undoManager.levelsOfUndo = 3
        for value in 1...10 { counter.set(value) }
        while undoManager.canUndo { undoManager.undo() }
        #expect(counter.value == 7)
        while undoManager.canRedo { undoManager.redo() }
        undoManager.levelsOfUndo = 1
        while undoManager.canUndo { undoManager.undo() }
        #expect(counter.value == 9)
    }

    @Test func `nothing is recorded while registration is disabled`() {
        let undoManager = UndoManager()
        let counter = Counter(undoManager)
        undoManager.disableUndoRegistration()
        undoManager.disableUndoRegistration()
        counter.set(1)
        undoManager.enableUndoRegistration()
        #expect(!undoManager.isUndoRegistrationEnabled)
        counter.set(2)
        undoManager.enableUndoRegistration()
        #expect(undoManager.isUndoRegistrationEnabled)
        #expect(!undoManager.canUndo)
        counter.set(3)
        undoManager.undo()
        #expect(counter.value == 2)
    }

    @Test func `all operations can be removed, or those of one target`() {
        let undoManager = UndoManager()
        let (first, second) = (Counter(undoManager), Counter(undoManager))
        undoManager.beginUndoGrouping()
        first.set(1)
        second.set(1)
        undoManager.endUndoGrouping()
        first.set(2)
        undoManager.removeAllActions(withTarget: first)
        undoManager.undo()
        #expect(first.value == 2)
        #expect(second.value == 0)
        #expect(!undoManager.canUndo)
        undoManager.disableUndoRegistration()
        undoManager.removeAllActions()
        #expect(!undoManager.canRedo)
        #expect(undoManager.isUndoRegistrationEnabled)
    }

    @Test func `targets are weak, and operations of a deallocated target do nothing`() {
        let undoManager = UndoManager()
        weak var gone: Counter?
        do {
            let counter = Counter(undoManager)
            counter.set(1)
            gone = counter
        }
        #expect(gone == nil)
        #expect(undoManager.canUndo)
        undoManager.undo()
        #expect(!undoManager.canUndo && !undoManager.canRedo)
    }

    @Test func `action names stay with their groups through undo and redo`() {
        let undoManager = UndoManager()
        let counter = Counter(undoManager)
        counter.set(1)
        undoManager.setActionName("Counting")
        undoManager.beginUndoGrouping()
        counter.set(2)
        undoManager.setActionName("Resetting")
        undoManager.endUndoGrouping()
        #expect(undoManager.undoActionName == "Resetting")
        #expect(undoManager.undoMenuItemTitle == "Undo Resetting")
        #expect(undoManager.redoActionName == "")
        #expect(undoManager.redoMenuItemTitle == "Redo")
        undoManager.undo()
        #expect(undoManager.undoActionName == "Counting")
        #expect(undoManager.redoActionName == "Resetting")
        undoManager.undo()
        #expect(undoManager.undoActionName == "")
        #expect(undoManager.redoMenuItemTitle == "Redo Counting")
        undoManager.redo()
        #expect(undoManager.undoActionName == "Counting")
    }

    @Test func `isUndoing and isRedoing are true during the operation`() {
        let undoManager = UndoManager()
        let states = NSMutableArray()
        func register() {
            undoManager.registerUndo(withTarget: states) { states in
                states.add("\(undoManager.isUndoing) \(undoManager.isRedoing)")
                // Neither has an effect here.
                undoManager.undo()
                undoManager.redo()
                register()
            }
        }
        register()
        undoManager.undo()
        undoManager.redo()
        #expect(states as? [String] == ["true false", "false true"])
        #expect(!undoManager.isUndoing && !undoManager.isRedoing)
    }

    @Test func `groups that an operation leaves open are closed after it`() {
        let undoManager = UndoManager()
        let counter = Counter(undoManager)
        undoManager.registerUndo(withTarget: counter) { counter in
            undoManager.beginUndoGrouping()
            counter.set(5)
        }
        undoManager.undo()
        #expect(undoManager.groupingLevel == 0)
        #expect(counter.value == 5)
        undoManager.redo()
        #expect(counter.value == 0)
    }

    @Test func `it posts notifications`() {
        let undoManager = UndoManager()
        let counter = Counter(undoManager)
        nonisolated(unsafe) var posted: [Notification.Name] = []
        let names: [Notification.Name] = [
            .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange, .NSUndoManagerWillRedoChange,
            .NSUndoManagerDidRedoChange, .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup,
            .NSUndoManagerDidCloseUndoGroup,
        ]
        // The notifications are posted on the thread of the test.
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: undoManager, queue: nil) { _ in
                posted.append(name)
            }
        }
        undoManager.beginUndoGrouping()
        counter.set(1)
        undoManager.endUndoGrouping()
        undoManager.undo()
        undoManager.redo()
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
        #expect(
            posted == [
                .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup, .NSUndoManagerDidCloseUndoGroup,
                .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange, .NSUndoManagerWillRedoChange,
                .NSUndoManagerDidRedoChange,
            ]
        )
    }
}
