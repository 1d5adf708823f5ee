import ObjectGraph

/// The difference between two states of live results.
///
/// To apply it to a list, remove the elements at ``deletions`` and the moved elements, from the highest position down,
/// and insert the new and the moved elements at their new positions, from the lowest up. ``apply(to:)`` does that with
/// identifiers.
public struct ResultsChanges: Hashable, Sendable {
    /// A model at a position of the new results.
    public struct Item: Hashable, Sendable {
        /// The position.
        public let index: Int
        /// The identifier of the model at the time of the change.
        public let identifier: PersistentIdentifier
    }

    /// A model whose place relative to the other models has changed.
    public struct Move: Hashable, Sendable {
        /// The position in the old results.
        public let from: Int
        /// The position in the new results.
        public let to: Int
    }

    /// Whether this is the first set: the old results are empty.
    public internal(set) var isInitial: Bool
    /// The positions in the old results of models that have left them, ascending.
    public var deletions: [Int] { indices.deletions }
    /// The models that have entered the results, ascending.
    public var insertions: [Item] { indices.insertions.map(item) }
    /// The models whose place relative to the other models has changed, ascending by their new positions.
    public var moves: [Move] { indices.moves.map { Move(from: $0.from, to: $0.to) } }
    /// The models of both results whose observed properties or whose identifiers have changed, ascending. A model's
    /// identifier changes when it is saved for the first time.
    public var modifications: [Item] { modified.sorted().map(item) }
    /// The changes of the sections; nil without sections.
    public internal(set) var sections: ResultsSectionChanges?

    var indices: IndexChanges
    /// The old sections, if there are no new ones.
    private var oldSections: SectionSizes?
    var modified: Set<Int>
    /// The identifiers at the positions of insertions and modifications.
    var identifiers: [Int: PersistentIdentifier]

    /// Whether nothing has changed.
    public var isEmpty: Bool {
        !isInitial && indices.isEmpty && modified.isEmpty && sections?.isEmpty ?? (oldSections == nil)
    }

    init(
        isInitial: Bool,
        sections: ResultsSectionChanges?,
        oldSections: SectionSizes? = nil,
        indices: IndexChanges,
        modified: Set<Int>,
        identifiers: [Int: PersistentIdentifier]
    ) {
        self.isInitial = isInitial
        self.sections = sections
        self.oldSections = oldSections
        self.indices = indices
        self.modified = modified
        self.identifiers = identifiers
    }

    private func item(at index: Int) -> Item {
        guard let identifier = identifiers[index] else {
            preconditionFailure("every inserted and modified model has an identifier")
        }
        return Item(index: index, identifier: identifier)
    }

    /// Turns the identifiers of the old results into the identifiers of the new results.
    ///
    /// - Precondition: The list has the identifiers of the old results.
    /// - Complexity: O(*n* + *k* *n*) for *k* insertions and moves.
    public func apply(to list: inout [PersistentIdentifier]) {
        list = indices.applied(to: list) { item(at: $0).identifier }
        for index in modified { list[index] = item(at: index).identifier }
    }

    /// The difference between the old results of this set and the new results of a later one.
    ///
    /// - Complexity: O(*k* log *k*) for *k* changes in both. The size is bounded by the sizes of the outer results.
    public func followed(by later: ResultsChanges) -> ResultsChanges {
        var result = self
        result.indices = indices.followed(by: later.indices)
        let positions = IndexChanges.Positions(later.indices)
        var identifiers: [Int: PersistentIdentifier] = [:]
        for (index, identifier) in self.identifiers {
            if let new = positions.new(index) { identifiers[new] = identifier }
        }
        result.identifiers = identifiers.merging(later.identifiers) { $1 }
        result.modified = Set(modified.compactMap(positions.new)).union(later.modified)
            .subtracting(result.indices.insertions)
        result.sections = sections(followedBy: later)
        result.oldSections = result.sections == nil ? oldSections ?? sections?.old : nil
        return result
    }

    private func sections(followedBy later: ResultsChanges) -> ResultsSectionChanges? {
        guard let second = later.sections else { return nil }
        if let sections { return sections.followed(by: second) }
        if let oldSections { return ResultsSectionChanges(replacing: oldSections, by: second) }
        if isInitial { return ResultsSectionChanges(replacing: SectionSizes(), by: second) }
        // The results of this set have no sections, and count as one section.
        let count = second.old.elementCount - indices.insertions.count + indices.deletions.count
        return ResultsSectionChanges(replacing: SectionSizes(oneOf: count), by: second)
    }

    /// The number of changes.
    var count: Int {
        indices.deletions.count + indices.insertions.count + indices.moves.count + modified.count
    }
}

/// The difference between the sections of two states of live results. The models of a section change by the
/// ``ResultsChanges`` of the whole.
public struct ResultsSectionChanges: Hashable, Sendable {
    /// The positions of the old sections whose titles have gone, ascending.
    public var deletions: [Int] { indices.deletions }
    /// The positions of the sections with new titles, ascending.
    public var insertions: [Int] { indices.insertions }
    /// The sections whose place relative to the other sections has changed, ascending by their new positions.
    public var moves: [ResultsChanges.Move] { indices.moves.map { ResultsChanges.Move(from: $0.from, to: $0.to) } }
    /// The number of models in each old section. Results without sections count as one section.
    ///
    /// - Complexity: O(number of sections).
    public var oldSizes: [Int] { old.array }
    /// The number of models in each new section.
    ///
    /// - Complexity: O(number of sections).
    public var newSizes: [Int] { new.array }

    let indices: IndexChanges
    let old: SectionSizes
    private let new: SectionSizes

    /// Whether the titles, their order and the sizes have not changed.
    var isEmpty: Bool { indices.isEmpty && old == new }

    init<Title>(from old: SectionLayout<Title>, to new: SectionLayout<Title>) {
        self.old = old.sizes
        self.new = new.sizes
        let (oldTitles, newTitles) = (old.titles, new.titles)
        guard oldTitles != newTitles else {
            indices = IndexChanges()
            return
        }
        let olds = Dictionary(oldTitles.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let news = Dictionary(newTitles.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        indices = IndexChanges(
            Set(oldTitles).union(newTitles).map { IndexChanges.Difference(old: olds[$0], new: news[$0]) }
        )
    }

    /// The difference between results without sections and results with sections.
    ///
    /// - Parameter oldCount: The number of the old results, which count as one section.
    init<Title>(from oldCount: Int, to new: SectionLayout<Title>) {
        old = SectionSizes(oneOf: oldCount)
        self.new = new.sizes
        indices = IndexChanges(deletions: [0], insertions: Array(0..<new.count))
    }

    /// The difference between earlier sections and the new sections of a set. No section is in both.
    fileprivate init(replacing old: SectionSizes, by later: ResultsSectionChanges) {
        self.old = old
        new = later.new
        indices = IndexChanges(deletions: Array(0..<old.count), insertions: Array(0..<new.count))
    }

    init(_ indices: IndexChanges, _ old: SectionSizes, _ new: SectionSizes) {
        self.indices = indices
        self.old = old
        self.new = new
    }

    /// The section of a position in the old results, and the position in that section.
    ///
    /// - Precondition: The old results have the position.
    /// - Complexity: O(log *s*) for *s* sections.
    public func oldLocation(of index: Int) -> (section: Int, index: Int) { old.location(of: index) }

    /// The section of a position in the new results, and the position in that section.
    ///
    /// - Precondition: The new results have the position.
    /// - Complexity: O(log *s*) for *s* sections.
    public func newLocation(of index: Int) -> (section: Int, index: Int) { new.location(of: index) }

    func followed(by later: ResultsSectionChanges) -> ResultsSectionChanges {
        ResultsSectionChanges(indices.followed(by: later.indices), old, later.new)
    }
}
