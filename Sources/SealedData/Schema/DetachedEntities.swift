import ObjectGraph
import Guarded

/// The entities of objects outside any container.
///
/// A new object can be used like an instance of any class, and keeps both sides of its relationships consistent. This
/// requires a linked entity, which comes from a model of its class and all classes that are reachable from it.
enum DetachedEntities {
    /// A model with one of its entities. Entities do not retain their model's other entities.
    private struct Entry {
        let model: ManagedObjectModel
        let entity: Entity
    }

    private static let entries = Guarded<[ObjectIdentifier: Entry]>([:])

    /// Returns the entity of a class outside any container.
    ///
    /// All classes that are reachable from a class share its model, so that their entities are connected. Problems of
    /// the classes are reported by a container; here the affected relationships are one-way.
    ///
    /// - Complexity: O(1) after the first call for a class.
    static func entity(for type: any PersistentModel.Type) -> Entity { entry(for: type).entity }

    /// Returns the model of a class outside any container.
    static func model(for type: any PersistentModel.Type) -> ManagedObjectModel { entry(for: type).model }

    private static func entry(for type: any PersistentModel.Type) -> Entry {
        let key = ObjectIdentifier(type)
        if let entry = entries.withLock({ $0[key] }) { return entry }

        // Outside the lock: reading a class evaluates default values, which may create objects and call this function.
        let schema = Schema([type])
        let model: ManagedObjectModel
        do {
            model = try SchemaLinker(schema).lenientModel()
        } catch {
            preconditionFailure("\(type) cannot be a model: \(error)")
        }
        return entries.withLock { entries in
            for entity in schema.entities {
                guard let reached = entity.modelType, let linked = model.entitiesByName[entity.name] else { continue }
                let key = ObjectIdentifier(reached)
                // If another thread has added an entry, that entry stays, because objects may already refer to it.
                if entries[key] == nil { entries[key] = Entry(model: model, entity: linked) }
            }
            guard let entry = entries[key] else { preconditionFailure("\(type) is not in its own schema") }
            return entry
        }
    }
}
