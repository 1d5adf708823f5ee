import EncryptedSQLite
import Guarded
import ObjectGraph

/// The statements and columns of each entity of a schema.
final class EntityStatements: Sendable {
    /// The columns that a fetch of each entity reads, at its `Entity.index`.
    private let selections: [EntitySelection]
    /// The statements that insert rows of each entity.
    private let insertions: [EntityInsertion]
    /// ``EntityInsertion/toOnes`` of each entity, at its `Entity.index`. A save of one row must not make lists of all
    /// entities.
    let toOnes: [[Relationship]]
    /// ``EntityInsertion/oneToOnes`` of each entity.
    let oneToOnes: [[Relationship]]
    /// The shared inverses among the to-one relationships of each entity.
    let sharedInverses: [[SharedInverse]]
    /// ``EntityInsertion/memberships`` of each entity.
    let memberships: [[Relationship]]
    /// The slots of the to-one relationships of each entity.
    let toOneSlots: [SlotSet]
    /// The statements that update rows, created at their first use. A program changes the properties of an entity in
    /// few combinations, but may change them in any.
    private let updates = Guarded(KnownUpdates())
    /// The statements that delete rows, created at their first use.
    private let deletions = Guarded<[DeletionKey: DeletionStatements]>([:])
    private let schema: StoreSchema

    init(_ schema: StoreSchema) {
        self.schema = schema
        let entities = schema.model.entities
        selections = entities.map { EntitySelection($0, schema.table(of: $0)) }
        insertions = entities.map { EntityInsertion(of: $0, schema) }
        toOnes = insertions.map(\.toOnes)
        oneToOnes = insertions.map(\.oneToOnes)
        sharedInverses = toOnes.map { $0.compactMap { SharedInverse($0, schema) } }
        memberships = insertions.map(\.memberships)
        toOneSlots = toOnes.map { SlotSet($0.map(Property.relationship)) }
    }

    func selection(of entity: Entity) -> EntitySelection { selections[entity.index] }

    func insertion(of entity: Entity) -> EntityInsertion { insertions[entity.index] }

    /// The statement that writes the given slots of a row of an entity.
    func update(of entity: Entity, _ slots: SlotSet) -> EntityUpdate {
        updates.withLock { known in
            if let last = known.last, last.entity === entity, last.slots == slots { return last }
            let key = UpdateKey(entityIndex: entity.index, slots: slots)
            let found = known.all.value(for: key)
            let update = found ?? EntityUpdate(of: entity, slots, schema.table(of: entity))
            if found == nil { known.all.insert(update, for: key) }
            known.last = update
            return update
        }
    }

    /// The statements that delete rows of an entity. Their parameters represent the keys in the given form.
    func deletion(from entity: Entity, _ form: KeyGroup.Form) -> DeletionStatements {
        let key = DeletionKey(entityIndex: entity.index, form: form)
        return deletions.withLock { known in
            if let statements = known[key] { return statements }
            let statements = DeletionStatements(entity, schema, form)
            known[key] = statements
            return statements
        }
    }

    private struct KnownUpdates {
        var all = BoundedCache<UpdateKey, EntityUpdate>(limit: 256)
        /// The statement that was used last: most saves change the same properties as the one before.
        var last: EntityUpdate?
    }

    private struct UpdateKey: Hashable {
        let entityIndex: Int
        let slots: SlotSet
    }

    private struct DeletionKey: Hashable {
        let entityIndex: Int
        let form: KeyGroup.Form
    }
}
