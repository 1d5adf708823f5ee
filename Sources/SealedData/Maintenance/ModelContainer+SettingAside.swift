import ObjectGraph
public import SealedStore

@_exported public import struct SealedStore.SetAside

extension ModelContainer {
    /// The classes and properties that an encrypted store holds and the schema does not have, because another program,
    /// or an earlier version of this program, has written them.
    ///
    /// ```swift
    /// for item in try container.setAside() { print("not in this schema:", item) }
    /// ```
    ///
    /// It stays in the file until a schema has it again, or until ``removeSetAside(from:)`` or
    /// ``compact(_:removingSetAside:progress:)`` removes it. <doc:MigratingSchemas> describes how programs with different
    /// schemas use one store.
    ///
    /// - Parameter configuration: The configuration of the store; nil for the only encrypted store of the container.
    /// - Throws: ``StoreSelectionError``; `SealedStoreError`; `DatabaseError`.
    public func setAside(in configuration: ModelConfiguration? = nil) throws -> [SetAside] {
        try stores.store(of: configuration).setAside()
    }

    /// Removes the classes and properties that ``setAside(in:)`` returns, for good, in one transaction. The file keeps
    /// its size and reuses the space.
    ///
    /// The models of subclasses stay, as models of the superclass. Programs that use the removed classes or properties
    /// in the open store get an error at their next use.
    ///
    /// - Parameter configuration: The configuration of the store; nil for the only encrypted store of the container.
    /// - Returns: The removed classes and properties.
    /// - Throws: ``StoreSelectionError``; `ObjectGraphError.storeIsReadOnly`; `SealedStoreError.isMigrating` in a function
    ///   of a migration stage; `DatabaseError`.
    /// - Complexity: O(*n*) in the number of rows of the concerned tables.
    @discardableResult
    public func removeSetAside(from configuration: ModelConfiguration? = nil) throws -> [SetAside] {
        try stores.store(of: configuration).removeSetAside()
    }
}
