/// The result of a fetch that follows the changes of its context.
///
/// A change of *k* objects evaluates these *k* objects in memory and finds their positions, with O(*k* log *n*)
/// comparisons; changes of slots that neither the condition nor the order reads cost the intersection of two sets. The
/// store is queried again if
///
/// - objects that the condition or the order reads along relationships have changed,
/// - destinations of to-one relationships that the condition or the order reads were deleted, or have returned,
/// - objects have left a result with a limit, so that other objects enter it,
/// - the extent of a change is unknown, for example of a batch insertion,
/// - or only the store knows the result: a full-text search, an offset, a result without unsaved changes.
package final class LiveResults: ContextFollower {
    /// A fetch whose result is followed.
    package struct Query {
        /// The request; without a condition and an order if only ``fetch`` knows them.
        package var request: FetchRequest
        /// Whether the request has the condition and the order of ``fetch``.
        package var isComplete: Bool
        /// Fetches the objects.
        package var fetch: () throws -> [any GraphObject]

        package init(_ request: FetchRequest, isComplete: Bool = true, fetch: @escaping () throws -> [any GraphObject])
        {
            self.request = request
            self.isComplete = isComplete
            self.fetch = fetch
        }
    }

    /// A change of the result.
    package struct Update {
        /// The previous entries.
        package let old: OrderedResults
        /// The entries.
        package let new: OrderedResults
        /// The difference.
        package let changes: IndexChanges
        /// The new positions of objects in both results whose slots have changed, with these slots, ascending.
        package let modifications: [(position: Int, slots: SlotSet)]
        /// The new positions of objects in both results whose keys have become permanent.
        package let reidentified: [Int]
        /// Whether entries have changed, perhaps only in their rank: the position can stay the same.
        package let changesEntries: Bool
        /// The entries that have left or entered the result or changed their rank, before and after the update; nil if
        /// the result was fetched again.
        package let edits: [(old: ResultEntry?, new: ResultEntry?)]?
        /// The order of the sections; nil if the order of the entries is unknown.
        package let sectionOrder: QuerySort?
        /// Whether this is the update of ``LiveResults/setQuery(_:)``.
        package let isOfNewQuery: Bool
    }

    /// The query.
    package private(set) var query: Query
    /// The entries of the result.
    package private(set) var entries = OrderedResults()
    /// The error of the last update, which left the entries as they were; nil if it succeeded.
    package private(set) var error: (any Error)?
    /// The number of times that the store was queried.
    package private(set) var fetchCount = 0
    /// Called after each update that changes entries or an object of the result, or the ``error``.
    package var onUpdate: ((Update) -> Void)?
    /// Whether modifications are reported that change neither entries nor their order.
    package var reportsModifications = false {
        didSet { if reportsModifications != oldValue { context.followedSlotsDidChange(of: self) } }
    }

    private let context: ManagedObjectContext
    private var entriesByObject: [ObjectIdentifier: ResultEntry] = [:]
    private var dependencies: ResultDependencies
    /// Whether the entries are ranked by their positions in the last fetch, since their order cannot be computed.
    private(set) var isPositional = false
    /// Whether a fetch is replacing the entries. It delivers changes of the context, which its result includes.
    private var isFetching = false
    /// The changed slots of objects of the result that no update has reported, because of an error or a fetch.
    private var unreported: [ObjectIdentifier: SlotSet] = [:]

    /// Fetches a result and follows it. If the fetch fails, the result is empty, and ``error`` has the error.
    package init(_ query: Query, in context: ManagedObjectContext) {
        self.query = query
        self.context = context
        dependencies = Self.dependencies(of: query, in: context)
        context.addFollower(self)
        do {
            try replaceEntries(by: fetchedObjects(knownObjects: false))
        } catch {
            self.error = error
        }
    }

    private static func dependencies(of query: Query, in context: ManagedObjectContext) -> ResultDependencies {
        query.isComplete
            ? ResultDependencies(query.request)
            : ResultDependencies(onEverythingIn: context.model, of: query.request)
    }

    package var followedSlots: [Int: SlotSet] {
        var slots = dependencies.slots
        // A change of any slot modifies the objects of the result.
        if reportsModifications {
            for entity in query.request.entity.family {
                slots[dependencies.rootIndex, default: SlotSet()].formUnion(SlotSet(allOf: entity))
            }
        }
        return slots
    }

    /// The position of an object; nil if it is not in the result.
    ///
    /// - Complexity: O(log *n*) comparisons.
    package func position(of object: any GraphObject) -> Int? {
        entriesByObject[ObjectIdentifier(object)].flatMap { position(of: $0, in: entries) }
    }

    /// Replaces the query and fetches its result. If the fetch fails, the entries stay, and ``error`` has the error.
    package func setQuery(_ query: Query) {
        // The changes until now belong to the previous result.
        context.processPendingChanges()
        self.query = query
        dependencies = Self.dependencies(of: query, in: context)
        context.followedSlotsDidChange(of: self)
        refetch(modified: [:], knownObjects: false, isNewQuery: true)
    }

    private func fail(with error: any Error, modified: [ObjectIdentifier: SlotSet], isNewQuery: Bool = false) {
        self.error = error
        collect(modified)
        onUpdate?(
            Update(
                old: entries,
                new: entries,
                changes: IndexChanges(),
                modifications: [],
                reidentified: [],
                changesEntries: false,
                edits: [],
                sectionOrder: sectionOrder,
                isOfNewQuery: isNewQuery
            )
        )
    }

    /// Keeps changed slots for the next update.
    private func collect(_ modified: [ObjectIdentifier: SlotSet]) {
        for (id, slots) in modified { unreported[id, default: SlotSet()].formUnion(slots) }
    }

    // MARK: Changes

    package func contextDidChange(_ changes: ContextChanges) {
        let root = changes.roots[dependencies.rootIndex]
        if isFetching { return collect(modifiedSlots(root)) }
        let isUnknown = changes.isUnknown || root?.isUnknown ?? false
        if mustFetch(after: changes, root) {
            // After unknown changes, the rows of all objects have to be read again.
            return refetch(modified: modifiedSlots(root), knownObjects: !isUnknown)
        }
        guard let root else { return }
        do {
            try apply(root)
        } catch {
            fail(with: error, modified: modifiedSlots(root))
        }
    }

    private func mustFetch(after changes: ContextChanges, _ root: ContextChanges.Root?) -> Bool {
        if changes.isUnknown || root?.isUnknown ?? false { return true }
        if dependencies.areRelatedObjectsConcerned(by: changes) { return true }
        if dependencies.areDestinationsConcerned(by: changes) { return true }
        guard let root else { return false }
        if !root.slotsOfAnyObject.isDisjoint(with: dependencies.own) { return true }
        let concerns = root.concernsExistence || dependencies.concern(root)
        // After an error the entries may lack earlier changes.
        return concerns && (error != nil || onlyStoreKnowsResult)
    }

    private var onlyStoreKnowsResult: Bool {
        let request = query.request
        return isPositional || !query.isComplete || request.search != nil || request.offset > 0
            || !request.includesPendingChanges
    }

    /// The changed slots of the objects in the result.
    private func modifiedSlots(_ root: ContextChanges.Root?) -> [ObjectIdentifier: SlotSet] {
        var slots: [ObjectIdentifier: SlotSet] = [:]
        for (id, change) in root?.objects ?? [:] where entriesByObject[id] != nil && !change.slots.isEmpty {
            slots[id] = change.slots
        }
        return slots
    }

    /// Evaluates the changed objects, and moves them to their positions.
    private func apply(_ root: ContextChanges.Root) throws {
        guard root.concernsExistence || !root.slots.isDisjoint(with: dependencies.own) else {
            guard reportsModifications else { return }
            return error == nil
                ? finish(entries, IndexChanges(), modifiedSlots(root), edits: []) : collect(modifiedSlots(root))
        }
        let failures = context.loader.readFailures.additions
        var edit = ResultEdit()
        for (id, change) in root.objects {
            guard change.concernsExistence || !change.slots.isDisjoint(with: dependencies.own) else { continue }
            try edit.add(change.object, entriesByObject[id], self)
        }
        for object in objects(of: root.unregistered) {
            try edit.add(object, entriesByObject[ObjectIdentifier(object)], self)
        }
        try requireNoFailure(since: failures)
        guard let new = edit.applied(to: entries, limit: query.request.limit, position, precedes) else {
            return refetch(modified: modifiedSlots(root), knownObjects: true)
        }
        let touched = edit.differences
        for entry in touched.compactMap(\.old) { entriesByObject[ObjectIdentifier(entry.object)] = nil }
        for entry in touched.compactMap(\.new) { entriesByObject[ObjectIdentifier(entry.object)] = entry }
        update(to: new, touched, modifiedSlots(root))
    }

    /// Ensures that no read has failed since the list of failures had a number of additions.
    private func requireNoFailure(since additions: Int) throws {
        let failures = context.loader.readFailures
        guard failures.additions == additions else { throw ObjectGraphError.unreadable(failures.values) }
    }

    /// Registers the objects of committed rows that may belong to the result.
    private func objects(of changes: [Int64: Commit.Change]) -> [any GraphObject] {
        let entity = query.request.entity
        let concerned = changes.filter { _, change in
            guard change.kind != .deleted else { return false }
            guard let slots = change.slots, change.kind == .updated else { return true }
            return !slots.isDisjoint(with: dependencies.own)
        }
        let rows = concerned.values.compactMap(\.row).filter {
            context.model.entities[$0.entityIndex].isKind(of: entity)
        }
        var objects = context.loader.materialize(RowBatch(copying: rows))
        let keys = concerned.filter { $0.value.row == nil }.map(\.key)
        if !keys.isEmpty { objects += context.loader.objects(with: keys, of: context.model.root(of: entity)) }
        return objects
    }

    // MARK: Evaluating

    /// Returns the entry of an object; nil if it does not belong to the result.
    func entry(for object: any GraphObject) throws -> ResultEntry? {
        // A rollback can have removed a new object from the context.
        guard object.managedObjectContext === context else { return nil }
        guard try !context.fetcher.fitting([object], query.request).isEmpty else { return nil }
        return try makeEntry(object)
    }

    private func makeEntry(_ object: any GraphObject) throws -> ResultEntry {
        let evaluator = QueryEvaluator()
        return ResultEntry(object, try query.request.sort.map { try evaluator.value($0.expression, for: object) })
    }

    private func precedes(_ left: ResultEntry, _ right: ResultEntry) -> Bool {
        let sort = isPositional ? Self.positionalSort : query.request.sort
        return sort.precedes(left.values, left.key, right.values, right.key)
    }

    private static let positionalSort = [QuerySort(.variable(0))]

    private func position(of entry: ResultEntry, in results: OrderedResults) -> Int? {
        let position = results.partitioningIndex { precedes($0, entry) }
        if position < results.count, results[position] === entry { return position }
        // A lookup with values that have no order ends here. No attribute has such values.
        return (0..<results.count).first { results[$0] === entry }
    }

    // MARK: Fetching

    /// Fetches the result again, and compares it with the previous one.
    private func refetch(modified: [ObjectIdentifier: SlotSet], knownObjects: Bool, isNewQuery: Bool = false) {
        let old = entries
        let hadError = error != nil
        let oldRows = reportsModifications && !knownObjects && !isNewQuery ? rows : [:]
        do {
            try replaceEntries(by: fetchedObjects(knownObjects: knownObjects))
        } catch {
            // The entries do not have the values of the new sort keys.
            if isNewQuery { setPositionalEntries(of: objects) }
            return fail(with: error, modified: modified, isNewQuery: isNewQuery)
        }
        collect(modified)
        collect(slots(changedSince: oldRows))
        let modified = unreported
        unreported = [:]
        var reidentified: [ObjectIdentifier] = []
        var changesRanks = hadError || isNewQuery
        old.forEach { entry in
            let id = ObjectIdentifier(entry.object)
            guard let new = entriesByObject[id] else { return }
            if new.key != entry.key { reidentified.append(id) }
            // The section of an object can change while its position stays.
            if !new.hasRank(of: entry) { changesRanks = true }
        }
        let changes = IndexChanges(from: old, to: entries, entriesByObject)
        let changesEntries = !changes.isEmpty || changesRanks
        finish(old, changes, modified, reidentified, changesEntries: changesEntries, isNewQuery: isNewQuery)
    }

    private func fetchedObjects(knownObjects: Bool) throws -> [any GraphObject] {
        fetchCount += 1
        isFetching = true
        defer { isFetching = false }
        guard knownObjects, query.isComplete, entries.count > 0 else { return try query.fetch() }
        // Most objects are registered, and their rows are not read again.
        let failures = context.loader.readFailures.additions
        let ids = try context.fetchIDs(query.request)
        let includesDeleted = !query.request.includesPendingChanges
        let objects = context.objects(with: ids).filter { includesDeleted ? !$0.life.isMissing : !$0.isObjectDeleted }
        try requireNoFailure(since: failures)
        return objects
    }

    /// The rows of the objects of the result.
    private var rows: [ObjectIdentifier: Row] { entriesByObject.compactMapValues { $0.object.lastRow } }

    /// The slots that differ between earlier rows of objects in the result and their present rows.
    private func slots(changedSince oldRows: [ObjectIdentifier: Row]) -> [ObjectIdentifier: SlotSet] {
        var changed: [ObjectIdentifier: SlotSet] = [:]
        for (id, old) in oldRows {
            guard let new = entriesByObject[id]?.object.lastRow, new.version != old.version else { continue }
            var slots = SlotSet()
            for slot in 0..<max(old.slotCount, new.slotCount)
            where old.hasValue(at: slot) && (!new.hasValue(at: slot) || old.differs(from: new, at: slot)) {
                slots.insert(slot)
            }
            if !slots.isEmpty { changed[id] = slots }
        }
        return changed
    }

    private func replaceEntries(by objects: [any GraphObject]) throws {
        var list: [ResultEntry] = []
        list.reserveCapacity(objects.count)
        var hasRanks = query.isComplete && query.request.search == nil && query.request.includesPendingChanges
        if hasRanks {
            let sort = query.request.sort
            for object in objects {
                let entry = try makeEntry(object)
                if let last = list.last, !sort.precedes(last.values, last.key, entry.values, entry.key) {
                    hasRanks = false
                }
                list.append(entry)
            }
        }
        hasRanks ? setOrderedEntries(list) : setPositionalEntries(of: objects)
        error = nil
    }

    /// The objects of the entries.
    private var objects: [any GraphObject] {
        var objects: [any GraphObject] = []
        entries.forEach { objects.append($0.object) }
        return objects
    }

    private func setPositionalEntries(of objects: [any GraphObject]) {
        isPositional = true
        setEntries(objects.enumerated().map { ResultEntry($1, [.integer(Int64($0))]) })
    }

    private func setOrderedEntries(_ list: [ResultEntry]) {
        isPositional = false
        setEntries(list)
    }

    private func setEntries(_ list: [ResultEntry]) {
        entries = OrderedResults(list)
        entriesByObject = Dictionary(
            list.map { (ObjectIdentifier($0.object), $0) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    // MARK: Reporting

    private func update(
        to new: OrderedResults,
        _ touched: [(old: ResultEntry?, new: ResultEntry?)],
        _ modified: [ObjectIdentifier: SlotSet]
    ) {
        let old = entries
        entries = new
        let changes = IndexChanges(
            touched.map { entry in
                IndexChanges.Difference(
                    old: entry.old.flatMap { position(of: $0, in: old) },
                    new: entry.new.flatMap { position(of: $0, in: new) }
                )
            }
        )
        let reidentified = touched.compactMap { entry in
            entry.new.flatMap { $0.key == entry.old?.key ?? $0.key ? nil : ObjectIdentifier($0.object) }
        }
        finish(old, changes, modified, reidentified, changesEntries: !touched.isEmpty, edits: touched)
    }

    private func finish(
        _ old: OrderedResults,
        _ changes: IndexChanges,
        _ modified: [ObjectIdentifier: SlotSet],
        _ reidentified: [ObjectIdentifier] = [],
        changesEntries: Bool = false,
        edits: [(old: ResultEntry?, new: ResultEntry?)]? = nil,
        isNewQuery: Bool = false
    ) {
        let modified = reportsModifications ? modified : [:]
        guard changesEntries || !modified.isEmpty || !reidentified.isEmpty else { return }
        let inserted = Set(changes.insertions)
        func position(of id: ObjectIdentifier) -> Int? {
            guard let entry = entriesByObject[id], let position = self.position(of: entry, in: entries) else {
                return nil
            }
            return inserted.contains(position) ? nil : position
        }
        let modifications = modified.compactMap { id, slots in position(of: id).map { (position: $0, slots: slots) } }
        onUpdate?(
            Update(
                old: old,
                new: entries,
                changes: changes,
                modifications: modifications.sorted { $0.position < $1.position },
                reidentified: reidentified.compactMap(position).sorted(),
                changesEntries: changesEntries,
                edits: edits,
                sectionOrder: sectionOrder,
                isOfNewQuery: isNewQuery
            )
        )
    }
}
