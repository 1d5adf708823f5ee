extension ModelConfiguration {
    /// The encrypted store.
    public typealias Store = DefaultStore
}
