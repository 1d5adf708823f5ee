extension ResultsObserver {
    /// Fetches the results for a view; an error of the query is in ``fetchError``.
    ///
    /// - Precondition: The class is in the schema of the context.
    package convenience init(
        reportingErrorsOf descriptor: FetchDescriptor<Element>,
        sectionBy: PartialKeyPath<Element>?,
        modelContext: ModelContext,
        isolation: (any Actor)?
    ) {
        self.init(
            reportingErrorsOf: ResultsQuery(descriptor: descriptor, sectionBy: sectionBy),
            modelContext,
            isolation
        )
    }

    /// Replaces the descriptor and the sections, and fetches once. Does nothing if both are equal to the present ones.
    package func setQuery(_ descriptor: FetchDescriptor<Element>, sectionBy: PartialKeyPath<Element>?) {
        let new = ResultsQuery<Element, SectionTitle>(descriptor: descriptor, sectionBy: sectionBy)
        if new.descriptor != query.descriptor || new.sectionBy != query.sectionBy { change { $0 = new } }
    }
}
