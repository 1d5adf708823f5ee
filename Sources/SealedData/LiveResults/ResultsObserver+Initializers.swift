public import Foundation

// The actor of a new observer is the actor of the calling code. An observer of a container uses the main context on the
// main actor, and a separate context on another actor.

extension ResultsObserver where SectionTitle == Never {
    /// Fetches the results of a descriptor in a context, and follows them.
    ///
    /// - Parameters:
    ///   - fetchDescriptor: The descriptor.
    ///   - modelContext: The context.
    ///   - isolation: The actor whose code uses the context, on which the results are updated.
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(),
        modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(ResultsQuery(descriptor: fetchDescriptor), modelContext, isolation)
    }

    /// Fetches the results of a descriptor from a container, and follows them.
    ///
    /// - Parameters:
    ///   - fetchDescriptor: The descriptor.
    ///   - modelContainer: The container. On the main actor the observer uses its main context, on another actor a
    ///     separate context.
    ///   - isolation: The actor whose code uses the observer, on which the results are updated.
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(),
        modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        let context = modelContainer.context(for: isolation)
        try self.init(ResultsQuery(descriptor: fetchDescriptor), context, isolation)
    }

    /// Fetches the models of a context that fulfil a predicate, and follows them.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        filterBy: Predicate<Element>? = nil,
        sortBy: [SortDescriptor<Element>]? = nil,
        modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        let descriptor = FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? [])
        try self.init(ResultsQuery(descriptor: descriptor), modelContext, isolation)
    }

    /// Fetches the models of a container that fulfil a predicate, and follows them.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        filterBy: Predicate<Element>? = nil,
        sortBy: [SortDescriptor<Element>]? = nil,
        modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        let descriptor = FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? [])
        try self.init(ResultsQuery(descriptor: descriptor), modelContainer.context(for: isolation), isolation)
    }
}

extension ResultsObserver {
    /// Fetches the results of a descriptor in a context, in sections, and follows them.
    ///
    /// - Parameters:
    ///   - fetchDescriptor: The descriptor.
    ///   - sectionBy: The titles of the sections: a persisted property, also along to-one relationships.
    ///   - modelContext: The context.
    ///   - isolation: The actor whose code uses the context, on which the results are updated.
    /// - Throws: as ``ModelContext/fetch(_:)``; ``SwiftDataError/unsupportedKeyPath``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(),
        sectionBy: KeyPath<Element, SectionTitle>,
        modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(ResultsQuery(descriptor: fetchDescriptor, sectionBy: sectionBy), modelContext, isolation)
    }

    /// Fetches the results of a descriptor from a container, in sections, and follows them.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``; ``SwiftDataError/unsupportedKeyPath``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(),
        sectionBy: KeyPath<Element, SectionTitle>,
        modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        let context = modelContainer.context(for: isolation)
        try self.init(ResultsQuery(descriptor: fetchDescriptor, sectionBy: sectionBy), context, isolation)
    }

    /// Fetches the models of a context that fulfil a predicate, in sections, and follows them.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``; ``SwiftDataError/unsupportedKeyPath``.
    public convenience init(
        filterBy: Predicate<Element>? = nil,
        sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, SectionTitle>,
        modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        let descriptor = FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? [])
        try self.init(ResultsQuery(descriptor: descriptor, sectionBy: sectionBy), modelContext, isolation)
    }

    /// Fetches the models of a container that fulfil a predicate, in sections, and follows them.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``; ``SwiftDataError/unsupportedKeyPath``.
    public convenience init(
        filterBy: Predicate<Element>? = nil,
        sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, SectionTitle>,
        modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        let descriptor = FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? [])
        let context = modelContainer.context(for: isolation)
        try self.init(ResultsQuery(descriptor: descriptor, sectionBy: sectionBy), context, isolation)
    }
}

extension ModelContainer {
    /// The context for code of an actor: the main context on the main actor, otherwise a new one.
    fileprivate func context(for isolation: (any Actor)?) -> ModelContext {
        guard isolation === MainActor.shared else { return ModelContext(self, isolation: isolation) }
        // The main context belongs to the main actor, which runs the caller.
        return MainActor.assumeIsolated { SentContext(context: mainContext) }.context
    }
}
