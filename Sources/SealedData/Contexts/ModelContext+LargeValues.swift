public import Foundation
import ObjectGraph
import SealedStore

/// Values that are too large for the memory.
extension ModelContext {
    /// Reads the saved value of a property in parts, without holding all of it in memory.
    ///
    /// ```swift
    /// try context.readValue(of: film, at: \.content) { part in try file.write(contentsOf: part) }
    /// ```
    ///
    /// - Parameters:
    ///   - model: A saved model of this context. Unsaved changes of the property are not read.
    ///   - keyPath: A property of type `Data`.
    ///   - partSize: The largest number of bytes of a part.
    ///   - body: Called with the parts in their order; not called for an empty value.
    /// - Returns: Whether the property has a value.
    /// - Throws: ``SwiftDataError/unsupportedKeyPath`` for another property; ``SwiftDataError/missingModelContext`` for a model
    ///   that is not saved in an encrypted store; `ObjectGraphError.conflicts` if the model is changed in the store
    ///   before the last part; errors of the store and of `body`.
    @discardableResult
    public func readValue<T: PersistentModel>(
        of model: T,
        at keyPath: PartialKeyPath<T>,
        partSize: Int = 1 << 20,
        _ body: (Data) throws -> Void
    ) throws -> Bool {
        let (store, attribute) = try place(of: model, keyPath)
        return try store.readValue(of: model.managedObjectID, attribute, partSize: max(1, partSize), body)
    }

    /// Writes the value of a property from parts, at once and without holding all of it in memory.
    ///
    /// The parts are written in separate transactions, and the model gets the value after the last one. If the process
    /// ends before, the model keeps its old value. The contexts of the container get the value as they get a save of
    /// another context.
    ///
    /// ```swift
    /// try context.writeValue(of: film, at: \.content, byteCount: size) { try file.read(upToCount: 1 << 20) ?? Data() }
    /// ```
    ///
    /// - Parameters:
    ///   - model: A saved model of this context.
    ///   - keyPath: A property of type `Data` with the option `.externalStorage`.
    ///   - byteCount: The number of bytes of the value, at most 1,000,000,000.
    ///   - next: Returns the next part, of at least one byte.
    /// - Throws: ``SwiftDataError/unsupportedKeyPath`` for another property; ``SwiftDataError/missingModelContext`` for a model
    ///   that is not saved in an encrypted store; `SealedStoreError.invalidLength` if the parts have another length;
    ///   `ObjectGraphError.conflicts` if the store no longer has the model; errors of the store and of `next`. The model
    ///   keeps its value then.
    public func writeValue<T: PersistentModel>(
        of model: T,
        at keyPath: PartialKeyPath<T>,
        byteCount: Int,
        from next: () throws -> Data
    ) throws {
        let (store, attribute) = try place(of: model, keyPath)
        guard attribute.description.allowsExternalStorage else { throw Self.unsupported(keyPath) }
        try store.writeValue(of: model.managedObjectID, attribute, count: byteCount, author: author, next)
        var commit = Commit(.others)
        commit.add(Commit.Change(.updated), of: model.managedObjectID.key, entity: model.managedObjectID.entity)
        graph.coordinator.announce(commit)
        graph.processPendingChanges()
    }

    private func place<T: PersistentModel>(
        of model: T,
        _ keyPath: PartialKeyPath<T>
    ) throws -> (SealedStore, Attribute) {
        let id = model.managedObjectID
        guard let name = PropertyLookup.name(of: keyPath, in: T.self),
            case .attribute(let attribute)? = id.entity.properties.first(where: { $0.name == name }),
            attribute.type == .data
        else { throw Self.unsupported(keyPath) }
        guard !id.isTemporary, model.modelContext == self,
            let store = graph.coordinator.sealedStores.first(where: { $0.metadata.uuid == id.storeUUID })
        else {
            throw SwiftDataError(.missingModelContext, "the model is not saved in an encrypted store of this context")
        }
        return (store, attribute)
    }

    private static func unsupported<T>(_ keyPath: PartialKeyPath<T>) -> SwiftDataError {
        SwiftDataError(.unsupportedKeyPath, "'\(keyPath)' is no property of type Data with external storage")
    }
}
