import ObjectGraph
import TestSupport

/// Changes by two contexts of one coordinator, each with a merge policy and an undo manager.
struct ContextProgram: CustomStringConvertible {
    enum Act: CaseIterable {
        case insertOwner, insertItem, insertAgain, deleteOwner, deleteItem, setNumber
        /// Changes of a relationship by its to-one side, or by single members of its to-many side.
        case relate, part
        /// Changes of all members of a to-many side.
        case setMembers, reorder
        case save, rollback, undo, redo, process, read, release, refresh
        case check
    }

    struct Step: CustomStringConvertible {
        let act: Act
        /// The number of the context.
        let writer: Int
        var kind: ContextModel.Kind
        /// Choose objects and values.
        let first: Int
        let second: Int

        var description: String { "\(writer): \(act) \(kind) (\(first), \(second))" }
    }

    var steps: [Step]
    /// The relationships of the model.
    var kinds: [ContextModel.Kind]
    var policies: [MergePolicy]

    static let policies: [MergePolicy] = [
        .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    /// Makes a random program.
    init(_ random: inout SeededGenerator, steps count: Int) {
        kinds = ContextModel.Kind.allCases.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
            .sorted()
        policies = (0..<2).map { _ in random.pick(Self.policies) ?? .error }
        let interval = random.pick([1, 3, 8]) ?? 1
        steps = []
        for number in 1...count {
            let chance = Int.random(in: 0..<100, using: &random)
            let act: Act =
                switch chance {
                case 0..<16: .save
                case 16..<22: .undo
                case 22..<36: .relate
                default: random.pick(Act.allCases.filter { $0 != .check }) ?? .process
                }
            let step = Step(
                act: act,
                writer: Int.random(in: 0..<2, using: &random),
                kind: random.pick(kinds) ?? .list,
                first: Int.random(in: 0..<60, using: &random),
                second: Int.random(in: 0..<60, using: &random)
            )
            steps.append(step)
            if number % interval == 0 {
                steps.append(Step(act: .check, writer: 0, kind: step.kind, first: 0, second: 0))
            }
        }
    }

    var description: String { "\(policies) \(kinds)\n" + steps.map(\.description).joined(separator: "\n") }

    /// The first contradiction, with the steps before it; nil without one.
    func contradiction() throws -> (text: String, log: [String])? {
        let world = try ContextWorld(kinds, policies)
        for step in steps {
            if let text = try world.perform(step) { return (text, world.log) }
        }
        if let text = try world.end() { return (text, world.log) }
        return nil
    }

    /// The program without the steps and relationships that its contradiction does not need.
    func shrunk() throws -> ContextProgram {
        var smallest = self
        func shrink(_ change: (inout ContextProgram) -> Void) throws -> Bool {
            var candidate = smallest
            change(&candidate)
            guard try candidate.contradiction() != nil else { return false }
            smallest = candidate
            return true
        }
        for kind in kinds where smallest.kinds.count > 1 {
            _ = try shrink { program in
                program.kinds.removeAll { $0 == kind }
                program.steps.removeAll { $0.kind == kind && $0.act.isOfRelationship }
                for position in program.steps.indices where program.steps[position].kind == kind {
                    program.steps[position].kind = program.kinds[0]
                }
            }
        }
        var size = max(steps.count / 2, 1)
        while true {
            var start = 0
            while start < smallest.steps.count {
                let range = start..<min(start + size, smallest.steps.count)
                if try !shrink({ $0.steps.removeSubrange(range) }) { start += size }
            }
            if size == 1 { break }
            size /= 2
        }
        return smallest
    }
}

extension ContextProgram.Act {
    fileprivate var isOfRelationship: Bool {
        switch self {
        case .relate, .part, .setMembers, .reorder: true
        default: false
        }
    }
}
