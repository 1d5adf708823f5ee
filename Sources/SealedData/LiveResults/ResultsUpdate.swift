import ObjectGraph

/// An update of live results, before it is restricted to the properties that a receiver observes.
struct ResultsUpdate {
    private let isInitial: Bool
    private let indices: IndexChanges
    private let modifications: [(position: Int, slots: SlotSet)]
    private let reidentified: [Int]
    private let identifiers: [Int: PersistentIdentifier]
    private let sections: ResultsSectionChanges?
    /// The old sections, if the update removes all division into sections.
    private let oldSections: SectionSizes?

    init(
        _ update: LiveResults.Update,
        _ sections: ResultsSectionChanges?,
        oldSections: SectionSizes?,
        identifier: (any GraphObject) -> PersistentIdentifier
    ) {
        isInitial = false
        indices = update.changes
        modifications = update.modifications
        reidentified = update.reidentified
        var identifiers: [Int: PersistentIdentifier] = [:]
        for index in update.changes.insertions + update.modifications.map(\.position) + update.reidentified {
            identifiers[index] = identifier(update.new[index].object)
        }
        self.identifiers = identifiers
        self.sections = sections
        self.oldSections = sections == nil ? oldSections : nil
    }

    /// The first update: all models are new.
    init<Title>(
        initial entries: OrderedResults,
        _ layout: SectionLayout<Title>?,
        identifier: (any GraphObject) -> PersistentIdentifier
    ) {
        isInitial = true
        indices = IndexChanges(insertions: Array(0..<entries.count))
        modifications = []
        reidentified = []
        identifiers = Dictionary(
            uniqueKeysWithValues: (0..<entries.count).map { ($0, identifier(entries[$0].object)) }
        )
        sections = layout.map { ResultsSectionChanges(from: SectionLayout(), to: $0) }
        oldSections = nil
    }

    /// The change set of the update.
    ///
    /// - Parameter slots: The slots whose changes are modifications; nil for all.
    func changes(of slots: SlotSet?) -> ResultsChanges {
        let observed = modifications.filter { modification in
            slots.map { !modification.slots.isDisjoint(with: $0) } ?? true
        }
        return ResultsChanges(
            isInitial: isInitial,
            sections: sections,
            oldSections: oldSections,
            indices: indices,
            modified: Set(observed.map(\.position) + reidentified),
            identifiers: identifiers
        )
    }
}

/// An object that receives the updates of live results.
protocol ResultsChangeReceiver: AnyObject {
    func receive(_ update: ResultsUpdate)
    /// Called when the observer is released.
    func finish()
}
