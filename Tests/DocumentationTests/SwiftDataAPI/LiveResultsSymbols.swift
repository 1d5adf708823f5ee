import Foundation
import SealedData

extension SymbolList {
    mutating func addLiveResults() {
        add("ResultsObserver", ResultsObserver<Probe, Never>.self)
        add("ResultsObserver.results", \ResultsObserver<Probe, Never>.results)
        add("ResultsObserver.sections", \ResultsObserver<Probe, String>.sections)
        add("ResultsObserver.fetchDescriptor", \ResultsObserver<Probe, Never>.fetchDescriptor)
        add("ResultsObserver.filterBy", \ResultsObserver<Probe, Never>.filterBy)
        add("ResultsObserver.sortBy", \ResultsObserver<Probe, Never>.sortBy)
        add("ResultsObserver.sectionBy", \ResultsObserver<Probe, String>.sectionBy)
        add("ResultsObserver.modelContext", \ResultsObserver<Probe, Never>.modelContext)
        add("ResultsObserver.element(at:)", ResultsObserver<Probe, Never>.element(at:))
        add("ResultsObserver.indexPath(for:)", ResultsObserver<Probe, Never>.indexPath(for:))
        add("ResultsObserver.debugDescription", \ResultsObserver<Probe, Never>.debugDescription)
        add("SectionedResults", SectionedResults<Probe, String>.self)
        add("SectionedResults.sectionTitles", \SectionedResults<Probe, String>.sectionTitles)
        add("SectionedResults.contains(sectionTitle:)", SectionedResults<Probe, String>.contains(sectionTitle:))
        add("SectionedResults.index(ofSectionTitled:)", SectionedResults<Probe, String>.index(ofSectionTitled:))
        add("SectionedResults.subscript(sectionTitle:)", \SectionedResults<Probe, String>.[sectionTitle: ""])
        add("ResultsSection", ResultsSection<Probe, String>.self)
        add("ResultsSection.title", \ResultsSection<Probe, String>.title)
        add("ResultsSection.id", \ResultsSection<Probe, String>.id)
        add("Query", Query<Probe, [Probe]>.self)
        add("Query.wrappedValue", { @MainActor (query: Query<Probe, [Probe]>) in query.wrappedValue })
        add("Query.modelContext", { @MainActor (query: Query<Probe, [Probe]>) in query.modelContext })
        add("Query.fetchError", { @MainActor (query: Query<Probe, [Probe]>) in query.fetchError })
        add("@Query(filter:sort:order:)", ProbeList.self)
        addObservers()
    }

    private mutating func addObservers() {
        add(
            "ResultsObserver.init(fetchDescriptor:modelContext:isolation:)",
            { (context: ModelContext) in
                try ResultsObserver(fetchDescriptor: FetchDescriptor<Probe>(), modelContext: context)
            }
        )
        add(
            "ResultsObserver.init(fetchDescriptor:modelContainer:isolation:)",
            { (container: ModelContainer) in
                try ResultsObserver(fetchDescriptor: FetchDescriptor<Probe>(), modelContainer: container)
            }
        )
        add(
            "ResultsObserver.init(filterBy:sortBy:modelContext:isolation:)",
            { (context: ModelContext) in
                try ResultsObserver(sortBy: [SortDescriptor(\Probe.name)], modelContext: context)
            }
        )
        add(
            "ResultsObserver.init(filterBy:sortBy:modelContainer:isolation:)",
            { (container: ModelContainer) in
                try ResultsObserver(sortBy: [SortDescriptor(\Probe.name)], modelContainer: container)
            }
        )
        add(
            "ResultsObserver.init(fetchDescriptor:sectionBy:modelContext:isolation:)",
            { (context: ModelContext) in
                try ResultsObserver(fetchDescriptor: .init(), sectionBy: \Probe.name, modelContext: context)
            }
        )
        add(
            "ResultsObserver.init(fetchDescriptor:sectionBy:modelContainer:isolation:)",
            { (container: ModelContainer) in
                try ResultsObserver(fetchDescriptor: .init(), sectionBy: \Probe.name, modelContainer: container)
            }
        )
        add(
            "ResultsObserver.init(filterBy:sortBy:sectionBy:modelContext:isolation:)",
            { (context: ModelContext) in
                try ResultsObserver(sortBy: [], sectionBy: \Probe.name, modelContext: context)
            }
        )
        add(
            "ResultsObserver.init(filterBy:sortBy:sectionBy:modelContainer:isolation:)",
            { (container: ModelContainer) in
                try ResultsObserver(sortBy: [], sectionBy: \Probe.name, modelContainer: container)
            }
        )
    }
}

@MainActor
private final class ProbeList {
    @Query(filter: nil, sort: \Probe.name, order: .forward) var probes: [Probe]
}
