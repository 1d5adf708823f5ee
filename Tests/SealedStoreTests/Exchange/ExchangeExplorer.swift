import EncryptedSQLite
import Foundation
import ObjectGraph
@testable import SealedStore
import TestSupport

/// Explores all sequences of steps, up to a length, of stores that exchange their changes.
///
/// A state of a store is a closed file, so that each step also opens the store. What a step makes of a state is computed
/// once: a world is a combination of states with a log, and most steps of a world are known from other worlds. Objects
/// get global identifiers that follow from their names, so that states that differ in nothing else are one.
///
/// Beside the stores, a mirror applies the log and is never changed itself. After each step:
///
/// - a change set makes of the mirror what its author has, and the mirror has nothing pending;
/// - a store differs from the mirror at its position only in what is pending, and a store that had nothing pending before
///   it applied a change set has nothing pending;
/// - the check of the store finds no problem.
///
/// The worlds are explored in the order of the number of steps: the first failure has as few as possible.
final class ExchangeExplorer {
    /// A change of objects, which is saved.
    enum Edit: Hashable {
        case insertAlbum
        /// Inserts a photo into an album.
        case insertPhoto(album: Int?)
        /// Relates an album and a photo, or ends their relation.
        case toggle(album: Int, photo: Int, other: Bool)
        /// Reverses the order of an album's photos.
        case reverse(album: Int)
        case deleteAlbum(Int)
        case deletePhoto(Int)
        /// Deletes an album and inserts one with the same code, in one save.
        case replaceAlbum(Int)
    }

    enum Step: Hashable, CustomStringConvertible {
        case edit(Int, Edit)
        /// Makes a change set.
        case make(Int)
        /// Appends the change set that was made to the log.
        case append(Int)
        /// Makes a change set and appends it.
        case send(Int)
        /// Applies the next change set of the log.
        case apply(Int)

        var description: String {
            switch self {
            case .edit(let store, let edit): "\(store): \(edit)"
            case .make(let store): "\(store): make"
            case .append(let store): "\(store): append"
            case .send(let store): "\(store): send"
            case .apply(let store): "\(store): apply"
            }
        }
    }

    /// A failure with the steps that lead to it.
    struct Failure: CustomStringConvertible {
        let problem: String
        let steps: [Step]
        var description: String { "\(problem)\n  " + steps.map(\.description).joined(separator: "\n  ") }
    }

    typealias Content = [String: [String: String]]

    /// A state of a store.
    struct State {
        let content: Content
        let pending: [String: UnexchangedChanges.Difference]
        /// Whether a change set was made that may be the next one of the log.
        let hasOutstanding: Bool
        let position: Int
        let problems: [String]
        let albums: Int
        let photos: Int
    }

    enum Operation: Hashable {
        case edit(store: Int, Edit)
        case make
        case apply(Int)
    }

    enum Effect {
        case state(Int, changeSet: Int?)
        /// The context has refused the edit.
        case refused
        case failed(String)
    }

    struct World: Hashable {
        var stores: [Int]
        var log: [Int]
        /// The change sets that were made and not appended.
        var made: [Int?]
    }

    struct OperationKey: Hashable {
        let state: Int
        let operation: Operation
    }

    let model: ExploredModel
    let policy: MergePolicy
    /// Whether a world has one album and one photo at a time, and only the first store makes change sets that it does not
    /// append at once: longer sequences of steps are explored in the same time.
    let isNarrow: Bool
    let entities: [String: Entity]
    let folder = TemporaryFolder()
    var states: [State] = []
    var stateNumbers: [String: Int] = [:]
    var changeSets: [ChangeSet] = []
    var changeSetNumbers: [UUID: Int] = [:]
    var effects: [OperationKey: Effect] = [:]
    var mirrors: [[Int]: Int] = [:]
    var names: [UUID: String] = [:]
    private(set) var worldCount = 0
    var stateCount: Int { states.count }

    init(_ model: ExploredModel, _ policy: MergePolicy, isNarrow: Bool = false) {
        self.isNarrow = isNarrow
        self.model = model
        self.policy = policy
        entities = (try? ManagedObjectModel(entities: model.declarations))?.entitiesByName ?? [:]
    }

    // MARK: Exploring

    /// Explores the worlds of stores, all with the same content at first.
    ///
    /// - Parameters:
    ///   - base: The edits before the first step, whose change set all stores have.
    ///   - limit: The number of worlds after which the exploration ends.
    /// - Returns: failures, each of another kind, with as few steps as possible.
    func explore(_ count: Int, base: [Edit], steps: Int, worlds limit: Int = .max) throws -> [Failure] {
        let first = try start(count, base)
        var parents: [World: (World, Step)] = [:]
        var seen: Set<World> = [first]
        var worlds = [first]
        var failures: [Failure] = []
        var kinds: Set<String> = []
        func path(_ world: World, _ last: Step?) -> [Step] {
            var steps = last.map { [$0] } ?? []
            var world = world
            while let (parent, step) = parents[world] {
                steps.append(step)
                world = parent
            }
            return steps.reversed()
        }
        func fail(_ problem: String, _ world: World, _ step: Step?) {
            // Names and numbers differ, the kind is the same.
            let kind = String(problem.filter { !$0.isNumber }.prefix(60))
            guard kinds.insert(kind).inserted else { return }
            failures.append(Failure(problem: problem, steps: path(world, step)))
        }
        for depth in 1...max(1, steps) where steps > 0 {
            var next: [World] = []
            for world in worlds {
                for step in self.steps(of: world) {
                    guard worldCount < limit else { return failures }
                    let (after, problem) = try perform(step, world)
                    if let problem {
                        fail(problem, world, step)
                        continue
                    }
                    guard let after, seen.insert(after).inserted else { continue }
                    parents[after] = (world, step)
                    worldCount += 1
                    if depth < steps {
                        next.append(after)
                    } else if worldCount % 8 == 0, let problem = try problemOfEnd(after) {
                        fail(problem, after, nil)
                    }
                }
            }
            worlds = next
        }
        return failures
    }

    /// Takes random steps.
    ///
    /// - Parameter walks: The number of sequences of steps.
    /// - Returns: the first failure, with as few of its steps as necessary.
    func walk(_ count: Int, base: [Edit], steps: Int, walks: Int, _ random: inout SeededGenerator) throws -> Failure? {
        let first = try start(count, base)
        for _ in 0..<walks {
            var (world, taken) = (first, [Step]())
            while taken.count < steps {
                let step = random.pick(self.steps(of: world))!
                let (after, problem) = try perform(step, world)
                if after != nil || problem != nil { taken.append(step) }
                if problem != nil { return try shrink(taken, first) }
                if let after { world = after }
            }
            worldCount += 1
            if try problemOfEnd(world) != nil { return try shrink(taken, first) }
        }
        return nil
    }

    func shrink(_ steps: [Step], _ first: World) throws -> Failure {
        var steps = steps
        var position = steps.count - 1
        while position >= 0 {
            var fewer = steps
            fewer.remove(at: position)
            if try problem(of: fewer, first) != nil {
                steps = fewer
                position = steps.count
            }
            position -= 1
        }
        return Failure(problem: try problem(of: steps, first) ?? "", steps: steps)
    }

    /// The problem of a sequence of steps and an exchange after it. Steps that are not possible are left out.
    func problem(of steps: [Step], _ first: World) throws -> String? {
        var world = first
        for step in steps where self.steps(of: world).contains(step) {
            let (after, problem) = try perform(step, world)
            if let problem { return problem }
            if let after { world = after }
        }
        return try problemOfEnd(world)
    }

    /// The world in which all stores have the same objects.
    func start(_ count: Int, _ base: [Edit]) throws -> World {
        let empty = try emptyState()
        var first = World(
            stores: Array(repeating: empty, count: count),
            log: [],
            made: Array(repeating: nil, count: count)
        )
        mirrors[[]] = empty
        for edit in base { first.stores[0] = try require(effect(.edit(store: 0, edit), of: first.stores[0])) }
        guard !base.isEmpty else { return first }
        guard case .state(let sent, let changes?) = try effect(.make, of: first.stores[0]) else { throw Stop.setUp }
        first.log = [changes]
        first.stores[0] = try require(effect(.apply(changes), of: sent))
        for store in 1..<count { first.stores[store] = try require(effect(.apply(changes), of: first.stores[store])) }
        return first
    }

    enum Stop: Error { case setUp }

    func require(_ effect: Effect) throws -> Int {
        guard case .state(let state, _) = effect else { throw Stop.setUp }
        return state
    }

    func steps(of world: World) -> [Step] {
        var steps: [Step] = []
        for (store, number) in world.stores.enumerated() {
            let state = states[number]
            var edits: [Edit] = []
            let limit = isNarrow && !model.isReflexive ? 1 : 2
            if state.albums < limit { edits.append(.insertAlbum) }
            for album in 0..<state.albums { edits.append(.deleteAlbum(album)) }
            if model.isUnique { for album in 0..<state.albums { edits.append(.replaceAlbum(album)) } }
            if !model.isReflexive {
                if state.photos < limit {
                    if !model.isRequired { edits.append(.insertPhoto(album: nil)) }
                    for album in 0..<state.albums { edits.append(.insertPhoto(album: album)) }
                }
                for photo in 0..<state.photos {
                    edits.append(.deletePhoto(photo))
                    for album in 0..<state.albums {
                        edits.append(.toggle(album: album, photo: photo, other: false))
                        guard model.kind == .sharedInverse else { continue }
                        edits.append(.toggle(album: album, photo: photo, other: true))
                    }
                }
                let isOrdered = model.kind == .orderedOneToMany || model.kind == .orderedManyToMany
                if isOrdered, state.photos > 1 {
                    for album in 0..<state.albums { edits.append(.reverse(album: album)) }
                }
            } else if state.albums > 1 {
                edits.append(.toggle(album: 0, photo: 1, other: false))
            }
            steps += edits.map { .edit(store, $0) }
            steps.append(.send(store))
            if !isNarrow || store == 0 { steps.append(.make(store)) }
            if world.made[store] != nil { steps.append(.append(store)) }
            if state.position < world.log.count { steps.append(.apply(store)) }
        }
        return steps
    }

    /// Performs a step.
    ///
    /// - Returns: the world afterwards, nil if the step changes nothing; a violated invariant.
    func perform(_ step: Step, _ world: World) throws -> (World?, String?) {
        var after = world
        switch step {
        case .edit(let store, let edit):
            switch try effect(.edit(store: store, edit), of: world.stores[store]) {
            case .refused: return (nil, nil)
            case .failed(let problem): return (nil, problem)
            case .state(let state, _):
                after.stores[store] = state
                if let problem = problem(of: state) { return (nil, problem) }
            }
        case .make(let store), .send(let store):
            switch try effect(.make, of: world.stores[store]) {
            case .refused: return (nil, nil)
            case .failed(let problem): return (nil, problem)
            case .state(let state, let changes):
                after.stores[store] = state
                guard let changes else { return (state == world.stores[store] ? nil : after, nil) }
                let isNext = Int(changeSets[changes].sequence) == world.log.count + 1
                if isNext, let problem = try problem(of: changes, by: state, world.log) { return (nil, problem) }
                if case .send = step {
                    guard isNext else { return (nil, nil) }
                    after.log.append(changes)
                    after.made[store] = nil
                } else {
                    after.made[store] = changes
                }
            }
        case .append(let store):
            guard let changes = world.made[store], Int(changeSets[changes].sequence) == world.log.count + 1 else {
                return (nil, nil)
            }
            after.log.append(changes)
            after.made[store] = nil
            if case .failed(let problem) = try mirror(after.log) { return (nil, problem) }
        case .apply(let store):
            let before = states[world.stores[store]]
            switch try effect(.apply(world.log[before.position]), of: world.stores[store]) {
            case .refused: return (nil, nil)
            case .failed(let problem): return (nil, problem)
            case .state(let state, _):
                after.stores[store] = state
                let problem = try problem(
                    of: state,
                    world.log,
                    hadNothing: before.pending.isEmpty && !before.hasOutstanding
                )
                if let problem { return (nil, problem) }
            }
        }
        return (after, nil)
    }

    // MARK: Invariants

    func problem(of state: Int) -> String? {
        if !states[state].problems.isEmpty { return "unsound: \(states[state].problems)" }
        guard model.kind == .sharedInverse else { return nil }
        let content = states[state].content
        for (photo, values) in content {
            guard photo.hasPrefix("Photo"), let owner = values["album"] else { continue }
            let name = photo.dropFirst("Photo ".count)
            let owners = Set(
                content.filter { album, values in
                    let members = [values["photos"], values["others"]].compactMap(\.self).joined(separator: " ")
                    return !album.hasPrefix("Photo") && members.split(separator: " ").contains(name)
                }.keys.map { $0.split(separator: " ")[1] }
            )
            if owners != Set(owner.isEmpty ? [] : [Substring(owner)]) { return "lists and their inverse: \(content)" }
        }
        return nil
    }

    /// Whether a change set makes of the mirror what its author has.
    func problem(of changes: Int, by author: Int, _ log: [Int]) throws -> String? {
        switch try mirror(log + [changes]) {
        case .failed(let problem): return "the mirror: \(problem)"
        case .refused: return "refused"
        case .state(let mirror, _):
            if !states[mirror].pending.isEmpty { return "the mirror has something pending: \(states[mirror].pending)" }
            let differences = differences(states[author].content, states[mirror].content)
            return differences.isEmpty ? nil : "the change set is not its author's state: \(differences)"
        }
    }

    /// Whether a store differs from the mirror at its position only in what is pending.
    func problem(of number: Int, _ log: [Int], hadNothing: Bool) throws -> String? {
        if let problem = problem(of: number) { return problem }
        let state = states[number]
        guard case .state(let mirror, _) = try mirror(Array(log.prefix(state.position))) else { return "no mirror" }
        if hadNothing, !state.pending.isEmpty { return "something is pending after nothing was: \(state.pending)" }
        return PendingComparison(
            own: state.content,
            common: states[mirror].content,
            pending: state.pending,
            entities: entities
        ).problem
    }

    /// Lets all stores exchange their changes until none is left: they must end equal.
    func problemOfEnd(_ start: World) throws -> String? {
        var world = start
        for _ in 0..<8 {
            let before = world
            for store in world.stores.indices {
                while states[world.stores[store]].position < world.log.count {
                    let (after, problem) = try perform(.apply(store), world)
                    guard let after else { return problem ?? "refused" }
                    world = after
                }
                let (after, problem) = try perform(.send(store), world)
                if let problem { return problem }
                if let after { world = after }
                while states[world.stores[store]].position < world.log.count {
                    let (after, problem) = try perform(.apply(store), world)
                    guard let after else { return problem ?? "refused" }
                    world = after
                }
            }
            if world.log == before.log { break }
        }
        for store in world.stores where !states[store].pending.isEmpty { return "the exchange does not end" }
        for store in world.stores {
            let differences = differences(states[world.stores[0]].content, states[store].content)
            if !differences.isEmpty { return "the stores end different: \(differences)" }
        }
        return nil
    }

    func differences(_ left: Content, _ right: Content) -> [String] {
        Set(left.keys).union(right.keys).sorted().flatMap { object -> [String] in
            guard let before = left[object], let after = right[object] else { return ["\(object) missing"] }
            return before.keys.filter { before[$0] != after[$0] }.sorted().map {
                "\(object).\($0): '\(before[$0] ?? "")' '\(after[$0] ?? "")'"
            }
        }
    }

    func mirror(_ log: [Int]) throws -> Effect {
        if let known = mirrors[log] { return .state(known, changeSet: nil) }
        guard let last = log.last, case .state(let before, _) = try mirror(log.dropLast()) else { return .refused }
        let effect = try effect(.apply(last), of: before)
        if case .state(let state, _) = effect { mirrors[log] = state }
        return effect
    }
}
