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

    private typealias Content = [String: [String: String]]

    /// A state of a store.
    private struct State {
        let content: Content
        let pending: [String: PendingChanges.Difference]
        /// Whether a change set was made that may be the next one of the log.
        let hasOutstanding: Bool
        let position: Int
        let problems: [String]
        let albums: Int
        let photos: Int
    }

    private enum Operation: Hashable {
        case edit(store: Int, Edit)
        case make
        case apply(Int)
    }

    private enum Effect {
        case state(Int, changeSet: Int?)
        /// The context has refused the edit.
        case refused
        case failed(String)
    }

    private struct World: Hashable {
        var stores: [Int]
        var log: [Int]
        /// The change sets that were made and not appended.
        var made: [Int?]
    }

    private struct OperationKey: Hashable {
        let state: Int
        let operation: Operation
    }

    let model: ExploredModel
    let policy: MergePolicy
    /// Whether a world has one album and one photo at a time, and only the first store makes change sets that it does not
    /// append at once: longer sequences of steps are explored in the same time.
    let isNarrow: Bool
    private let entities: [String: Entity]
    private let folder = TemporaryFolder()
    private var states: [State] = []
    private var stateNumbers: [String: Int] = [:]
    private var changeSets: [ChangeSet] = []
    private var changeSetNumbers: [UUID: Int] = [:]
    private var effects: [OperationKey: Effect] = [:]
    private var mirrors: [[Int]: Int] = [:]
    private var names: [UUID: String] = [:]
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

    private func shrink(_ steps: [Step], _ first: World) throws -> Failure {
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
    private func problem(of steps: [Step], _ first: World) throws -> String? {
        var world = first
        for step in steps where self.steps(of: world).contains(step) {
            let (after, problem) = try perform(step, world)
            if let problem { return problem }
            if let after { world = after }
        }
        return try problemOfEnd(world)
    }

    /// The world in which all stores have the same objects.
    private func start(_ count: Int, _ base: [Edit]) throws -> World {
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

    private enum Stop: Error { case setUp }

    private func require(_ effect: Effect) throws -> Int {
        guard case .state(let state, _) = effect else { throw Stop.setUp }
        return state
    }

    private func steps(of world: World) -> [Step] {
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
    private func perform(_ step: Step, _ world: World) throws -> (World?, String?) {
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

    private func problem(of state: Int) -> String? {
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
    private func problem(of changes: Int, by author: Int, _ log: [Int]) throws -> String? {
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
    private func problem(of number: Int, _ log: [Int], hadNothing: Bool) throws -> String? {
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
    private func problemOfEnd(_ start: World) throws -> String? {
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

    private func differences(_ left: Content, _ right: Content) -> [String] {
        Set(left.keys).union(right.keys).sorted().flatMap { object -> [String] in
            guard let before = left[object], let after = right[object] else { return ["\(object) missing"] }
            return before.keys.filter { before[$0] != after[$0] }.sorted().map {
                "\(object).\($0): '\(before[$0] ?? "")' '\(after[$0] ?? "")'"
            }
        }
    }

    private func mirror(_ log: [Int]) throws -> Effect {
        if let known = mirrors[log] { return .state(known, changeSet: nil) }
        guard let last = log.last, case .state(let before, _) = try mirror(log.dropLast()) else { return .refused }
        let effect = try effect(.apply(last), of: before)
        if case .state(let state, _) = effect { mirrors[log] = state }
        return effect
    }

    // MARK: Operations of stores

    private func url(_ state: Int) -> URL { folder.file("\(state).store") }

    private func emptyState() throws -> Int {
        let url = folder.file("new.store")
        let branch = try Branch(url, declarations: model.declarations)
        return try close(branch, url)
    }

    private func effect(_ operation: Operation, of state: Int) throws -> Effect {
        let key = OperationKey(state: state, operation: operation)
        if let known = effects[key] { return known }
        let copy = folder.file("work.store")
        try? FileManager.default.removeItem(at: copy)
        try FileManager.default.copyItem(at: url(state), to: copy)
        let branch = try Branch(copy, declarations: model.declarations)
        var effect: Effect
        do {
            switch operation {
            case .edit(let store, let edit):
                try perform(edit, store, branch)
                effect = .state(0, changeSet: nil)
            case .make:
                let changes = try branch.coordinator.changeSet().map(number)
                effect = .state(0, changeSet: changes)
            case .apply(let changes):
                try branch.coordinator.apply(changeSets[changes], mergePolicy: policy)
                effect = .state(0, changeSet: nil)
            }
        } catch let error as ObjectGraphError {
            if case .edit = operation { effect = .refused } else { effect = .failed("\(error)") }
        } catch {
            effect = .failed("\(error)")
        }
        let after = try close(branch, copy)
        if case .state(_, let changes) = effect { effect = .state(after, changeSet: changes) }
        effects[key] = effect
        return effect
    }

    private func number(_ changes: ChangeSet) -> Int {
        if let known = changeSetNumbers[changes.id] { return known }
        changeSets.append(changes)
        changeSetNumbers[changes.id] = changeSets.count - 1
        return changeSets.count - 1
    }

    private func objects(_ entity: String, _ branch: Branch, _ context: ManagedObjectContext) throws -> [ManagedObject]
    {
        try context.fetch(FetchRequest(branch.entity(entity)), as: ManagedObject.self).sorted {
            name($0) < name($1)
        }
    }

    private func name(_ object: ManagedObject) -> String {
        if case .text(let name) = object["name"] { name } else { "" }
    }

    private func perform(_ edit: Edit, _ store: Int, _ branch: Branch) throws {
        let context = branch.context
        let albums = try objects(model.album, branch, context)
        let photos = try objects(model.photo, branch, context)
        var inserted: ManagedObject?
        let count = try branch.store.opened.database.read { connection in
            try connection.withUncachedStatement(#"SELECT count(*) FROM "_identity""#) {
                try $0.step() ? $0.integer(at: 0) : 0
            }
        }
        func insert(_ entity: String) -> ManagedObject {
            let object = ManagedObject(entity: branch.entity(entity), insertInto: context)
            object["name"] = .text("\(entity.prefix(1))\(store)\(count)")
            if entity == model.album, model.isUnique { object["code"] = "code" }
            inserted = object
            return object
        }
        switch edit {
        case .insertAlbum: _ = insert(model.album)
        case .insertPhoto(let album):
            let photo = insert(model.photo)
            if let album { toggle(albums[album], photo, model.relationship) }
        case .toggle(let album, let photo, let other):
            toggle(
                albums[album],
                model.isReflexive ? albums[photo] : photos[photo],
                other ? "others" : model.relationship
            )
        case .reverse(let album):
            let members = albums[album].members(forRelationship: model.relationship)
            for member in members.reversed() {
                albums[album].removeMember(member, forRelationship: model.relationship)
                albums[album].addMember(member, forRelationship: model.relationship)
            }
        case .deleteAlbum(let album): context.delete(albums[album])
        case .deletePhoto(let photo): context.delete(photos[photo])
        case .replaceAlbum(let album):
            context.delete(albums[album])
            _ = insert(model.album)
        }
        guard context.hasChanges else { throw ObjectGraphError.storeIsReadOnly }
        try context.save()
        guard let inserted else { return }
        let identifier = identifier(name(inserted))
        let opened = try branch.store.opened
        try opened.writeTransaction { connection in
            try ExchangeReading(connection: connection, store: opened)
                .setIdentifier(identifier, of: ObjectPlace(inserted.managedObjectID))
        }
    }

    private func toggle(_ album: ManagedObject, _ other: ManagedObject, _ name: String) {
        switch model.kind {
        case .toOne:
            let isRelated = other.partner("album") === album
            other.setDestination(isRelated ? nil : album, forRelationship: "album")
        case .oneToOne, .partner:
            let isRelated = album.partner(name) === other
            album.setDestination(isRelated ? nil : other, forRelationship: name)
        default:
            if album.members(forRelationship: name).contains(where: { $0 === other }) {
                album.removeMember(other, forRelationship: name)
            } else {
                album.addMember(other, forRelationship: name)
            }
        }
    }

    /// The global identifier that follows from a name of up to eight bytes.
    private func identifier(_ name: String) -> UUID {
        var bytes = Array(name.utf8.prefix(16))
        bytes += Array(repeating: 0, count: 16 - bytes.count)
        let identifier = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        names[identifier] = name
        return identifier
    }

    // MARK: States of stores

    /// Closes a store, and returns the number of its state.
    private func close(_ branch: Branch, _ url: URL) throws -> Int {
        var content: Content = [:]
        for (object, values) in try branch.content() {
            content[text(object)] = values.mapValues(text)
        }
        let (pending, record, rows) = try describe(branch)
        let state = State(
            content: content,
            pending: pending,
            hasOutstanding: record.contains("\n"),
            position: Int(try branch.coordinator.exchangeState().position),
            problems: try branch.store.check().map(\.description),
            albums: try branch.count(model.album),
            photos: try branch.count(model.photo)
        )
        try branch.coordinator.removeAllStores()
        let lines = content.map { "\($0): \($1.sorted { $0.key < $1.key })" }.sorted()
        let differences = pending.map { "\($0): \(describe($1))" }.sorted()
        let key = (lines + differences + [record, rows]).joined(separator: "\n")
        if let known = stateNumbers[key] { return known }
        let number = states.count
        states.append(state)
        stateNumbers[key] = number
        try FileManager.default.moveItem(at: url, to: self.url(number))
        return number
    }

    /// A text with names in the place of global identifiers.
    private func text(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { part in
            UUID(uuidString: String(part)).flatMap { names[$0] } ?? String(part)
        }.joined(separator: " ")
    }

    private func describe(_ difference: PendingChanges.Difference) -> String {
        let slots = difference.entity.properties.filter { difference.slots.contains($0.slot) }.map(\.name)
        return "\(difference.isKnown) \(difference.isWhole) \(difference.isDeleted) \(slots)"
    }

    private struct RollBack: Error {}

    /// What is pending by object, what would be pending after each of the change sets that were made, and the keys.
    private func describe(_ branch: Branch) throws -> ([String: PendingChanges.Difference], String, String) {
        let store = try branch.store.opened
        var pending: [String: PendingChanges.Difference] = [:]
        var (text, keys) = ("", "")
        do {
            try store.writeTransaction { connection in
                let reading = ExchangeReading(connection: connection, store: store)
                keys = try connection.withUncachedStatement(
                    #"SELECT group_concat(hex("uuid") || ' ' || "entity" || ' ' || "key") FROM (SELECT * FROM "_identity" ORDER BY "uuid")"#
                ) { try $0.step() && !$0.isNull(at: 0) ? $0.string(at: 0) : "" }
                let record = try ExchangeRecord.begin(store, on: connection)
                func differences(_ record: ExchangeRecord) throws -> [String: PendingChanges.Difference] {
                    var found: [String: PendingChanges.Difference] = [:]
                    let changes = try PendingChanges(record, store, on: connection)
                    for (place, difference) in changes.objects {
                        let identifier = try reading.identifier(of: place)
                        let root = store.model.entities[place.rootIndex].name
                        found["\(root) \(names[identifier] ?? identifier.uuidString)"] = difference
                    }
                    return found
                }
                pending = try differences(record)
                text = "\(record.position)"
                for outstanding in record.outstanding {
                    do {
                        try store.writeTransaction { connection in
                            var later = record
                            try later.acknowledge(through: outstanding.covered, on: connection)
                            let rest = try differences(later).map { "\($0): \(describe($1))" }.sorted()
                            text += "\n\(outstanding.id) \(rest)"
                            throw RollBack()
                        }
                    } catch is RollBack {}
                }
                throw RollBack()
            }
        } catch is RollBack {}
        return (pending, text, keys)
    }
}
