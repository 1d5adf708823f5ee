/// The configuration of a custom store, with which a container opens the store.
///
/// ```swift
/// let configuration = JSONStoreConfiguration(name: "Trips", fileURL: url)
/// let container = try ModelContainer(for: Trip.self, configurations: configuration)
/// ```
public protocol DataStoreConfiguration<Store>: Hashable {
    /// The type of the store.
    associatedtype Store: DataStore where Store.Configuration == Self

    /// The name.
    var name: String { get }
    /// The store's part of the container's schema. If it is nil, a container sets it to the classes that no other
    /// configuration has.
    var schema: Schema? { get set }

    /// Checks the configuration before the store is opened.
    func validate() throws
}

extension DataStoreConfiguration {
    /// Does nothing.
    public func validate() throws {}
}
