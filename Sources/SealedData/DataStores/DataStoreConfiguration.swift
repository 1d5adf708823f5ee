/// The description of a store of a program's own: what a container is made with to open it.
///
/// ```swift
/// let container = try ModelContainer(for: Trip.self, configurations: JSONStoreConfiguration(name: "Trips", fileURL: url))
/// ```
public protocol DataStoreConfiguration<Store>: Hashable {
    /// The store that it describes.
    associatedtype Store: DataStore where Store.Configuration == Self

    /// The name.
    var name: String { get }
    /// The part of the container's schema that is kept in the store. A container sets it where it is nil, to what no other
    /// configuration holds.
    var schema: Schema? { get set }

    /// Checks what can be checked before the store is opened.
    func validate() throws
}

extension DataStoreConfiguration {
    /// Finds nothing wrong.
    public func validate() throws {}
}
