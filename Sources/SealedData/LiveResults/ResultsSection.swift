import ObjectGraph

/// A section of live results: models with the same title, in their order.
public struct ResultsSection<Element: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection, Identifiable {
    /// The title.
    public let title: SectionTitle
    private let results: FetchResultsCollection<Element>
    private let range: Range<Int>

    init(_ title: SectionTitle, _ results: FetchResultsCollection<Element>, _ range: Range<Int>) {
        self.title = title
        self.results = results
        self.range = range
    }

    /// The title.
    public var id: SectionTitle { title }
    /// The position of the first model.
    public var startIndex: Int { 0 }
    /// The position after the last model.
    public var endIndex: Int { range.count }

    /// The model at a position in the section.
    ///
    /// - Complexity: O(log *n*) for *n* results.
    public subscript(position: Int) -> Element {
        precondition(position >= 0 && position < range.count, "there is no model at this position of the section")
        return results[range.lowerBound + position]
    }
}

/// The sections of live results, in their order.
public struct SectionedResults<Model: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection {
    private let results: FetchResultsCollection<Model>
    private let layout: SectionLayout<SectionTitle>

    init(_ results: FetchResultsCollection<Model>, _ layout: SectionLayout<SectionTitle>) {
        self.results = results
        self.layout = layout
    }

    /// No sections.
    public init() { self.init(FetchResultsCollection([]), SectionLayout()) }

    /// The titles of the sections, in their order.
    ///
    /// - Complexity: O(number of sections).
    public var sectionTitles: [SectionTitle] { layout.titles }
    /// The position of the first section.
    public var startIndex: Int { 0 }
    /// The position after the last section.
    public var endIndex: Int { layout.count }

    /// The section at a position.
    ///
    /// - Complexity: O(log *s*) for *s* sections.
    public subscript(position: Int) -> ResultsSection<Model, SectionTitle> {
        ResultsSection(layout.title(of: position), results, layout.range(of: position))
    }

    /// The section with a title; nil if there is none.
    ///
    /// - Complexity: O(number of sections).
    public subscript(sectionTitle title: SectionTitle) -> ResultsSection<Model, SectionTitle>? {
        index(ofSectionTitled: title).map { self[$0] }
    }

    /// Whether there is a section with a title.
    ///
    /// - Complexity: O(number of sections).
    public func contains(sectionTitle title: SectionTitle) -> Bool { index(ofSectionTitled: title) != nil }

    /// The position of the section with a title; nil if there is none.
    ///
    /// - Complexity: O(number of sections).
    public func index(ofSectionTitled title: SectionTitle) -> Int? { layout.section(titled: title) }
}
