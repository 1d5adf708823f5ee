/// A request for the identifiers of the objects that a fetch finds.
public struct ObjectIDFetchRequest: Sendable {
    /// The fetch.
    public var objects: FetchRequest

    /// Makes a request.
    public init(_ objects: FetchRequest) {
        self.objects = objects
    }
}

/// A request for the number of objects that a fetch finds, within its limit and offset.
public struct CountRequest: Sendable {
    /// The fetch.
    public var objects: FetchRequest

    /// Makes a request.
    public init(_ objects: FetchRequest) {
        self.objects = objects
    }
}

/// A request for the plan of a fetch.
public struct QueryPlanRequest: Sendable {
    /// The fetch.
    public var objects: FetchRequest

    /// Makes a request.
    public init(_ objects: FetchRequest) {
        self.objects = objects
    }
}

/// A request to delete all rows of a store.
public struct EraseRequest: Sendable {
    /// Makes a request.
    public init() {}
}
