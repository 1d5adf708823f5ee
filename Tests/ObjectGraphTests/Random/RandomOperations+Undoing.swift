import ObjectGraph
import TestSupport
import Testing

extension RandomOperations {
    /// Performs an operation as one undo group.
    mutating func undoably(_ operation: (inout Self) throws -> Void) throws {
        let before = Moment(graph: graph, deleted: deleted)
        let undoManager = try #require(context.undoManager)
        undoManager.beginUndoGrouping()
        // An operation without changes would leave no group.
        let marker = Marker(undoManager)
        marker.register()
        markers.append(marker)
        defer { undoManager.endUndoGrouping() }
        try operation(&self)
        undoable.append(before)
        redoable = []
    }

    mutating func undoOrRedo() {
        let isUndo = random.chance(60)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            guard let moment = isUndo ? undoable.popLast() : redoable.popLast() else { return }
            log.append(isUndo ? "undo" : "redo")
            let now = Moment(graph: graph, deleted: deleted)
            if isUndo {
                context.undo()
                redoable.append(now)
            } else {
                context.redo()
                undoable.append(now)
            }
            graph = moment.graph
            // There may have been a save in between.
            deleted = moment.deleted.filter { saved.objects[$0.key] != nil && graph.objects[$0.key] == nil }
            for (id, object) in saved.objects where graph.objects[id] == nil && deleted[id] == nil {
                deleted[id] = PlainGraph.Object(entity: object.entity)
            }
        }
    }

    /// Whether undo or redo can restore objects that are deleted now.
    var canRestoreDeleted: Bool {
        (undoable + redoable).contains { moment in moment.graph.objects.keys.contains { graph.objects[$0] == nil } }
    }

    /// Removes all undo operations: the plain graph cannot predict their results.
    mutating func forgetUndo() {
        for context in contexts { context.undoManager?.removeAllActions() }
        undoable = []
        redoable = []
        markers = []
    }
}

/// An operation that changes nothing.
final class Marker {
    private unowned let undoManager: UndoManager

    init(_ undoManager: UndoManager) {
        self.undoManager = undoManager
    }

    func register() { undoManager.registerUndo(withTarget: self) { $0.register() } }
}
