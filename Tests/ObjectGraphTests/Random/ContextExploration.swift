@testable import ObjectGraph

/// All programs of two contexts up to a number of steps, for one kind of relationship and one merge policy of both.
///
/// A sequence that leads to a state which a shorter one has reached is not continued. The contexts are alike in the
/// beginning: sequences start with the first one.
struct ContextExploration {
    let kind: ContextModel.Kind
    let policy: MergePolicy
    /// Whether the sequences consist of few kinds of steps, so that longer ones can be explored.
    let isNarrow: Bool

    private var alphabet: [ContextProgram.Step] {
        (0..<2).flatMap { writer in
            func step(_ act: ContextProgram.Act, _ first: Int = 0, _ second: Int = 0) -> ContextProgram.Step {
                ContextProgram.Step(act: act, writer: writer, kind: kind, first: first, second: second)
            }
            if isNarrow {
                return [step(.save), step(.undo), step(.deleteItem), step(.relate, 0, kind == .chain ? 4 : 2)]
            }
            var steps = [
                step(.save), step(.undo), step(.rollback), step(.insertItem), step(.deleteItem),
                step(.insertAgain, 0, 1),
                // To another owner or partner, and away from one.
                step(.relate, 0, kind == .chain ? 4 : 2), step(.part, 0, 0), step(.setNumber, 0, 1),
            ]
            if kind != .chain { steps += [step(.deleteOwner), step(.relate, 2, 0)] }
            if kind.ofOwner.contains(where: \.isOrdered) { steps.append(step(.reorder)) }
            return steps
        }
    }

    /// Explores the sequences.
    ///
    /// - Parameter depth: The number of steps.
    /// - Returns: the number of states; the first contradiction, with the steps before it.
    func run(depth: Int) throws -> (states: Int, contradiction: (text: String, log: [String])?) {
        let alphabet = alphabet
        var states: Set<String> = []
        var sequences: [[ContextProgram.Step]] = [[]]
        for length in 0..<depth {
            var next: [[ContextProgram.Step]] = []
            for sequence in sequences {
                for step in alphabet where length > 0 || step.writer == 0 {
                    let world = try ContextWorld([kind], [policy, policy], startsEmpty: true)
                    for step in sequence { _ = try world.perform(step) }
                    if let text = try world.perform(step) { return (states.count, (text, world.log)) }
                    let state = try world.state()
                    if let text = try world.end() { return (states.count, (text, world.log)) }
                    if states.insert(state).inserted { next.append(sequence + [step]) }
                }
            }
            sequences = next
        }
        return (states.count, nil)
    }
}

extension ContextWorld {
    /// A description of the store and of the contexts' objects, with their unsaved changes.
    func state() throws -> String {
        var lines: [String] = []
        let stored = store.context()
        for entity in ["Owner", "Item"] {
            for object in try stored.all(entity) { lines.append("\(object.state.pointee.key) \(describe(object))") }
        }
        for context in contexts {
            lines.append("\(context.undoManager?.canUndo ?? false) \(context.undoManager?.canRedo ?? false)")
            let objects = context.identityMap.registeredObjects + context.changeTracker.changedEntries.map(\.object)
            for object in objects.sorted(by: { $0.state.pointee.key < $1.state.pointee.key }) {
                lines.append(describeState(of: object))
            }
        }
        return lines.joined(separator: "\n")
    }

    private func describeState(of object: any GraphObject) -> String {
        let state = object.state.pointee
        var text = "\(object.entity.name) \(state.key) \(state.life) \(state.flags.rawValue)"
        for relationship in object.entity.relationships where !relationship.isToMany {
            text += " \(object.lastRow?.integer(at: relationship.slot) ?? -1)"
        }
        guard let changes = state.changes else { return text }
        for slot in 0..<changes.slotCount {
            switch changes[slot] {
            case .unset: continue
            case .members(let members):
                text += """
                     \(slot): \(Array(members.keys)) \(members.isLoaded) \(members.added.sorted()) \
                    \(members.removed.sorted()) \(members.isReordered)
                    """
            case let value: text += " \(slot): \(value)"
            }
        }
        return text
    }
}
