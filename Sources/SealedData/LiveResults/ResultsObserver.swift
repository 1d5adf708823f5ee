public import Foundation
import ObjectGraph
public import Observation

/// The live results of a fetch: they follow the changes of their context, and changes that other contexts save.
///
/// ```swift
/// let observer = try ResultsObserver(
///     fetchDescriptor: FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]), modelContext: context)
/// for await changes in observer.changes() { … }
/// ```
///
/// The results include unsaved changes of the context, as its fetches do. They are updated when the context processes
/// changes: with each fetch and save of the context, with ``ModelContext/processPendingChanges()``, and, soon after a
/// change, when the actor of the context runs no other code. This includes the points where methods of the actor
/// suspend with `await`. A context that belongs to no actor is updated only by the explicit calls.
///
/// A save that changes *k* objects is evaluated in memory, with O(*k* log *n*) comparisons for *n* results, and a save
/// that cannot affect them costs no evaluation and no statement. The results are fetched again, and compared with the
/// previous results, if objects that the predicate reads along relationships change, if models leave results with a
/// limit, for an offset, for a full-text search, for batch insertions, and for changes whose extent is unknown.
///
/// The filter, the order and the sections can be set at any time. An error leaves the results as they were, and is in
/// ``fetchError``.
///
/// An observer retains its context and its results. It belongs to the same actor as the context; ``changes(of:)`` can
/// be read on any actor.
public final class ResultsObserver<Element: PersistentModel, SectionTitle: Hashable> {
    /// The context.
    public let modelContext: ModelContext

    private let registrar = ObservationRegistrar()
    private(set) var query: ResultsQuery<Element, SectionTitle>
    private let live: LiveResults
    private var shown: OrderedResults
    /// The titles and the order of the sections of ``shown``. While an update is delivered, the query can be a later
    /// one.
    private var shownSections: SectionSource
    /// The titles of the sections of the last update.
    private var updatedTitles: KeyPath<Element, SectionTitle>?
    private var knownLayout: SectionLayout<SectionTitle>?
    /// The number of times that the sections were made from all results.
    private(set) var layoutCount = 0
    private var knownModels: [Element]?
    /// The models and sections that the program has set since the last update.
    private var assignedResults: FetchResultsCollection<Element>?
    private var assignedSections: SectionedResults<Element, SectionTitle>?
    private var error: (any Error)?
    private var receivers: [WeakReceiver] = []
    /// Runs each update of the results, for example in a transaction of a user interface; nil to run them directly.
    package var performUpdate: ((() -> Void) -> Void)?

    /// The updates that are not applied yet: code that is called by an update may set the query.
    private var updates: [(update: LiveResults.Update, sections: SectionSource, error: (any Error)?)] = []
    private var isApplying = false

    /// The properties that determine the sections of results.
    private struct SectionSource {
        /// Nil without sections.
        var titles: KeyPath<Element, SectionTitle>?
        /// Nil if the order of the results is unknown.
        var order: QuerySort?
    }

    private struct WeakReceiver {
        weak var receiver: (any ResultsChangeReceiver)?
    }

    /// Fetches the results.
    ///
    /// - Throws: errors of the query.
    convenience init(
        _ query: ResultsQuery<Element, SectionTitle>,
        _ modelContext: ModelContext,
        _ isolation: (any Actor)?
    ) throws {
        let live = LiveResults(try query.query(in: modelContext), in: modelContext.graph)
        if let error = live.error { throw error }
        self.init(query, live, modelContext, isolation)
    }

    /// Fetches the results; an error of the query is in ``fetchError``.
    ///
    /// - Precondition: The class is in the schema of the context.
    convenience init(
        reportingErrorsOf query: ResultsQuery<Element, SectionTitle>,
        _ modelContext: ModelContext,
        _ isolation: (any Actor)?
    ) {
        self.init(
            query,
            LiveResults(query.reportingQuery(in: modelContext), in: modelContext.graph),
            modelContext,
            isolation
        )
    }

    private init(
        _ query: ResultsQuery<Element, SectionTitle>,
        _ live: LiveResults,
        _ modelContext: ModelContext,
        _ isolation: (any Actor)?
    ) {
        self.query = query
        self.modelContext = modelContext
        self.live = live
        shown = live.entries
        updatedTitles = query.reportedTitles
        shownSections = SectionSource(titles: updatedTitles, order: live.sectionOrder)
        error = live.error
        modelContext.followChanges(isolation: isolation)
        // Code that is called by an update can release other observers, which still receive the same update.
        live.onUpdate = { [weak self] update in
            guard let self else { return }
            if let performUpdate { performUpdate { self.apply(update) } } else { apply(update) }
        }
    }

    deinit {
        for entry in receivers { entry.receiver?.finish() }
    }

    // MARK: Results

    /// The models.
    ///
    /// A program can set other results, for example with an order that it has not saved yet. The observer has them
    /// until the next update that changes its results. Change sets still describe the live results.
    public var results: FetchResultsCollection<Element> {
        get {
            registrar.access(self, keyPath: \.results)
            return assignedResults ?? FetchResultsCollection(shown, in: modelContext)
        }
        set {
            registrar.withMutation(of: self, keyPath: \.results) {
                assignedResults = newValue
                knownModels = nil
            }
        }
    }

    /// The models as an array, which is made at the first access after a change.
    var models: [Element] {
        registrar.access(self, keyPath: \.results)
        if let knownModels { return knownModels }
        let models = Array(assignedResults ?? FetchResultsCollection(shown, in: modelContext))
        knownModels = models
        return models
    }

    /// The models in sections; nil without sections.
    ///
    /// - Complexity: O(*s* log *n*) for *s* sections at the first access, and after the results were fetched again; O(1)
    ///   otherwise: a change of *k* models changes their sections, with O(*k* log *s*) comparisons.
    ///
    /// Like ``results``, the sections can be set until the next update.
    public var sections: SectionedResults<Element, SectionTitle>? {
        get {
            registrar.access(self, keyPath: \.sections)
            if let assignedSections { return assignedSections }
            return layout.map { SectionedResults(FetchResultsCollection(shown, in: modelContext), $0) }
        }
        set { registrar.withMutation(of: self, keyPath: \.sections) { assignedSections = newValue } }
    }

    /// The error of the last update, which left the results as they were; nil if it succeeded.
    public var fetchError: (any Error)? {
        registrar.access(self, keyPath: \.fetchError)
        return error
    }

    /// The model at an index path: a section and a position in it. Without sections, the section is 0. Nil if there is
    /// no such model.
    public func element(at indexPath: IndexPath) -> Element? {
        guard indexPath.count == 2, indexPath[0] >= 0, indexPath[1] >= 0 else { return nil }
        guard let sections else {
            return indexPath[0] == 0 && indexPath[1] < results.count ? results[indexPath[1]] : nil
        }
        guard indexPath[0] < sections.count, indexPath[1] < sections[indexPath[0]].count else { return nil }
        return sections[indexPath[0]][indexPath[1]]
    }

    /// The index path of a model: its section and its position in it. Without sections, the section is 0. Nil if the
    /// results do not contain the model.
    ///
    /// - Complexity: O(log *n*) comparisons; with sections as ``sections``.
    public func indexPath(for element: Element) -> IndexPath? {
        registrar.access(self, keyPath: \.results)
        guard assignedResults == nil, assignedSections == nil else { return assignedIndexPath(for: element) }
        guard let position = position(of: element) else { return nil }
        guard let layout else { return IndexPath(indexes: [0, position]) }
        let section = layout.section(containing: position)
        return IndexPath(indexes: [section, position - layout.range(of: section).lowerBound])
    }

    private func position(of element: Element) -> Int? {
        // Code that is called by an update can have changed the results, which are not shown yet.
        updates.isEmpty
            ? live.position(of: element) : (0..<shown.count).first { shown[$0].object === element }
    }

    private func assignedIndexPath(for element: Element) -> IndexPath? {
        guard let sections else {
            return results.firstIndex { $0 === element }.map { IndexPath(indexes: [0, $0]) }
        }
        for section in sections.indices {
            if let position = sections[section].firstIndex(where: { $0 === element }) {
                return IndexPath(indexes: [section, position])
            }
        }
        return nil
    }

    // MARK: Query

    /// The descriptor. Setting it fetches.
    public var fetchDescriptor: FetchDescriptor<Element> {
        get {
            registrar.access(self, keyPath: \.fetchDescriptor)
            return query.descriptor
        }
        set { change { $0.descriptor = newValue } }
    }

    /// The predicate of the descriptor. Setting it fetches.
    public var filterBy: Predicate<Element>? {
        get { fetchDescriptor.predicate }
        set { change { $0.descriptor.predicate = newValue } }
    }

    /// The order of the descriptor. Setting it fetches.
    public var sortBy: [SortDescriptor<Element>] {
        get { fetchDescriptor.sortBy }
        set { change { $0.descriptor.sortBy = newValue } }
    }

    /// The key path of the section titles; nil for no sections. Its values are of the type `SectionTitle`. The results
    /// are sorted by it first: ascending, unless the descriptor's first sort descriptor has it. Setting it fetches.
    public var sectionBy: PartialKeyPath<Element>? {
        get {
            registrar.access(self, keyPath: \.sectionBy)
            return query.sectionBy
        }
        set { change { $0.sectionBy = newValue } }
    }

    func change(_ body: (inout ResultsQuery<Element, SectionTitle>) -> Void) {
        // The changes until now belong to the previous query.
        modelContext.processPendingChanges()
        registrar.withMutation(of: self, keyPath: \.fetchDescriptor) {
            registrar.withMutation(of: self, keyPath: \.sectionBy) {
                body(&query)
            }
        }
        live.setQuery(query.reportingQuery(in: modelContext))
    }

    private var layout: SectionLayout<SectionTitle>? {
        if let knownLayout { return knownLayout }
        guard let titles = shownSections.titles else { return nil }
        var layout = SectionLayout<SectionTitle>()
        let knownStarts = shownSections.order.map(shown.sectionStarts)
        let starts = knownStarts ?? Array(0..<shown.count)
        for (index, start) in starts.enumerated() {
            guard let title = Self.title(of: shown[start], titles) else { continue }
            let end = index + 1 < starts.count ? starts[index + 1] : shown.count
            layout.append(title, knownStarts == nil ? nil : shown[start].sectionValue, size: end - start)
        }
        knownLayout = layout
        layoutCount += 1
        return layout
    }

    private static func title(
        of entry: ResultEntry,
        _ titles: KeyPath<Element, SectionTitle>
    ) -> SectionTitle? {
        (entry.object as? Element).map { $0[keyPath: titles] }
    }

    /// The sections after an update of the shown results, and their changes; nil if the sections are not known, or have
    /// to be made anew.
    private func changedLayout(
        by update: LiveResults.Update,
        _ sections: SectionSource
    ) -> (layout: SectionLayout<SectionTitle>, changes: ResultsSectionChanges)? {
        guard !update.isOfNewQuery, var layout = knownLayout, let edits = update.edits, let order = sections.order,
            let titles = sections.titles
        else { return nil }
        let changes = layout.apply(edits, order) { Self.title(of: update.new[$0], titles) }
        return changes.map { (layout, $0) }
    }

    // MARK: Updates

    /// Applies an update, after the earlier ones.
    private func apply(_ update: LiveResults.Update) {
        if update.isOfNewQuery { updatedTitles = query.reportedTitles }
        updates.append((update, SectionSource(titles: updatedTitles, order: update.sectionOrder), live.error))
        guard !isApplying else { return }
        isApplying = true
        defer { isApplying = false }
        while !updates.isEmpty {
            let next = updates.removeFirst()
            apply(next.update, next.sections, next.error)
        }
    }

    private func apply(
        _ update: LiveResults.Update,
        _ source: SectionSource,
        _ newError: (any Error)?
    ) {
        receivers.removeAll { $0.receiver == nil }
        // While there are receivers, the previous sections are known. They cannot be made from the models, whose titles
        // have changed.
        let previous = knownLayout
        if newError != nil || error != nil {
            registrar.withMutation(of: self, keyPath: \.fetchError) { error = newError }
        }
        let changed = changedLayout(by: update, source)
        if update.changesEntries {
            let changesDivision = update.isOfNewQuery && (source.titles != nil || shownSections.titles != nil)
            show(update, source, changed?.layout, notifies: !update.changes.isEmpty || changesDivision)
        }
        guard !receivers.isEmpty, newError == nil else { return }
        let sections =
            changed?.changes
            ?? layout.map { layout in
                previous.map { ResultsSectionChanges(from: $0, to: layout) }
                    ?? ResultsSectionChanges(from: update.old.count, to: layout)
            }
        let changes = ResultsUpdate(update, sections, oldSections: previous?.sizes) {
            PersistentIdentifier($0.managedObjectID)
        }
        for entry in receivers { entry.receiver?.receive(changes) }
    }

    private func show(
        _ update: LiveResults.Update,
        _ source: SectionSource,
        _ layout: SectionLayout<SectionTitle>?,
        notifies: Bool
    ) {
        let change = { [self] in
            registrar.withMutation(of: self, keyPath: \.sections) {
                shown = update.new
                shownSections = source
                knownLayout = layout
                knownModels = nil
                assignedResults = nil
                assignedSections = nil
            }
        }
        if notifies || assignedResults != nil {
            registrar.withMutation(of: self, keyPath: \.results, change)
        } else {
            change()
        }
    }

    /// Adds a receiver of change sets, which is referred to weakly. The first set has the present results.
    func addReceiver(_ receiver: any ResultsChangeReceiver) {
        live.reportsModifications = true
        receivers.append(WeakReceiver(receiver: receiver))
        receiver.receive(ResultsUpdate(initial: shown, layout) { PersistentIdentifier($0.managedObjectID) })
    }

    /// The slots of persisted properties; nil for an empty list, which stands for all properties.
    ///
    /// - Precondition: The key paths lead to persisted properties of the model.
    func slots(of keyPaths: [PartialKeyPath<Element>]) -> SlotSet? {
        guard !keyPaths.isEmpty else { return nil }
        var slots = SlotSet()
        for keyPath in keyPaths {
            guard let slot = PropertyLookup.slot(of: keyPath, in: Element.self) else {
                preconditionFailure("'\(keyPath)' is not a persisted property of '\(Element.self)'")
            }
            slots.insert(slot)
        }
        return slots
    }
}

extension ResultsObserver: Observable {}

extension ResultsObserver: CustomDebugStringConvertible {
    /// The class and the number of results.
    public var debugDescription: String {
        let sections = layout.map { " in \($0.count) sections" } ?? ""
        return "ResultsObserver<\(Element.self)>(\(shown.count) results\(sections))"
    }
}
