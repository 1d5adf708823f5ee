import Guarded
import ObjectGraph

/// Makes the changes of models from the changes of the store's objects.
struct HistoryClasses: Sendable {
    /// The classes by the names of their entities.
    private let types: [String: any PersistentModel.Type]

    init(_ schema: Schema) {
        types = schema.entities.reduce(into: [:]) { $0[$1.name] = $1.modelType }
    }

    /// The change of a model; nil if the schema has no class for the object.
    func change(_ change: PersistentHistoryChange, of transaction: Int64) -> HistoryChange? {
        func make<Model: PersistentModel>(_ type: Model.Type) -> HistoryChange {
            let identifier = PersistentIdentifier(change.objectID)
            switch change.kind {
            case .insert:
                return .insert(
                    DefaultHistoryInsert<Model>(
                        transactionIdentifier: transaction,
                        changeIdentifier: change.id,
                        changedPersistentIdentifier: identifier
                    )
                )
            case .update:
                let keyPaths = HistoryKeyPaths.keyPaths(of: type)
                return .update(
                    DefaultHistoryUpdate<Model>(
                        transactionIdentifier: transaction,
                        changeIdentifier: change.id,
                        changedPersistentIdentifier: identifier,
                        updatedAttributes: change.updatedProperties.compactMap { keyPaths.sendable(at: $0.slot) },
                        previousValues: tombstone(of: type, change.objectID.entity, change.values.old, keyPaths),
                        currentValues: tombstone(of: type, change.objectID.entity, change.values.new, keyPaths)
                    )
                )
            case .delete:
                let keyPaths = HistoryKeyPaths.keyPaths(of: type)
                return .delete(
                    DefaultHistoryDelete<Model>(
                        transactionIdentifier: transaction,
                        changeIdentifier: change.id,
                        changedPersistentIdentifier: identifier,
                        tombstone: tombstone(of: type, change.objectID.entity, change.values.old, keyPaths)
                    )
                )
            }
        }
        return types[change.objectID.entity.name].map { make($0) }
    }

    /// The recorded values of attributes, in the types of their properties.
    private func tombstone<Model: PersistentModel>(
        of type: Model.Type,
        _ entity: Entity,
        _ values: [String: Value],
        _ keyPaths: HistoryKeyPaths<Model>
    ) -> HistoryTombstone<Model> {
        guard !values.isEmpty else { return HistoryTombstone(recorded: []) }
        return HistoryTombstone(
            recorded: entity.attributes.compactMap { attribute in
                guard let stored = values[attribute.name], let keyPath = keyPaths.keyPath(at: attribute.slot),
                    let value = RecordedValue.value(
                        stored,
                        as: Swift.type(of: keyPath).valueType,
                        by: keyPaths.transformer(at: attribute.slot)
                    )
                else { return nil }
                return (attribute.slot, value)
            }
        )
    }
}

/// The key paths of a model class by slot. The class is the root, also for inherited properties.
///
/// `@unchecked Sendable`: all properties are constants, key paths of stored properties are immutable, and threads share
/// value transformers.
final class HistoryKeyPaths<Model: PersistentModel>: @unchecked Sendable {
    private let keyPaths: [PartialKeyPath<Model>?]
    private let transformers: [_AttributeTransformer?]

    private init() {
        let levels = ModelInheritance(of: Model.self).levels
        transformers = levels.flatMap(\.properties).map { ($0.metadata as? Schema.Attribute)?.namedTransformer }
        keyPaths = levels.flatMap { level -> [PartialKeyPath<Model>?] in
            if level.type == Model.self { return level.properties.map { $0.keypath as? PartialKeyPath<Model> } }
            guard let inheritable = level.type as? any _InheritableModel.Type else {
                return level.properties.map { _ in nil }
            }
            return inheritable._$keyPaths(from: Model.self).map { $0 as? PartialKeyPath<Model> }
        }
    }

    /// The key paths of a class, which are collected once.
    static func keyPaths(of type: Model.Type) -> HistoryKeyPaths<Model> {
        let key = ObjectIdentifier(type)
        if let known = knownKeyPaths.withLock({ $0[key] }) as? HistoryKeyPaths<Model> { return known }
        // Outside the lock: the metadata evaluates default values, which run the program's code.
        let new = HistoryKeyPaths<Model>()
        knownKeyPaths.withLock { $0[key] = new }
        return new
    }

    func keyPath(at slot: Int) -> PartialKeyPath<Model>? { keyPaths.indices.contains(slot) ? keyPaths[slot] : nil }

    /// The value transformer that a property names; nil if it names none.
    func transformer(at slot: Int) -> _AttributeTransformer? {
        transformers.indices.contains(slot) ? transformers[slot] : nil
    }

    /// The key path as a value that can be sent: it captures nothing.
    func sendable(at slot: Int) -> (any PartialKeyPath<Model> & Sendable)? {
        // `Sendable` has no representation at run time, so that no cast finds it.
        keyPath(at: slot).map { unsafeBitCast($0, to: (any PartialKeyPath<Model> & Sendable).self) }
    }
}

private let knownKeyPaths = Guarded<[ObjectIdentifier: any Sendable]>([:])
