/// The values of a deleted model in the history: the values of attributes with
/// ``Schema/Attribute/Option/preserveValueOnDeletion``, or of all attributes if the history records values.
///
/// ```swift
/// if let name = deletion.tombstone[\.name] as? String { … }
/// ```
public struct HistoryTombstone<Model: PersistentModel>: Sequence, Sendable {
    private let values: [(slot: Int, value: any Sendable)]

    /// - Parameter values: The values by slot, in ascending order.
    init(recorded values: [(slot: Int, value: any Sendable)]) {
        self.values = values
    }

    /// Makes a tombstone, for a custom store.
    ///
    /// - Parameter values: The values by key path. Values of properties that are not persisted are ignored.
    public init(_ values: [PartialKeyPath<Model>: any Sendable]) {
        self.values =
            values
            .compactMap { keyPath, value in
                PropertyLookup.slot(of: keyPath, in: Model.self).map { (slot: $0, value: value) }
            }
            .sorted { $0.slot < $1.slot }
    }

    /// The value of a property; nil if it was not preserved, or was nil.
    public subscript(keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
        guard let slot = PropertyLookup.slot(of: keyPath, in: Model.self) else { return nil }
        return values.first { $0.slot == slot }?.value
    }

    /// Returns an iterator over the preserved values, in the order of the properties.
    public func makeIterator() -> AnyIterator<Any> {
        var values = values.makeIterator()
        return AnyIterator { values.next()?.value }
    }
}
