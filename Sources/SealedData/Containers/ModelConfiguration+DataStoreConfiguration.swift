extension ModelConfiguration: DataStoreConfiguration {
    /// The encrypted store.
    public typealias Store = DefaultStore
}
