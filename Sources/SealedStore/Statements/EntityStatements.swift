import EncryptedSQLite
import Guarded
import ObjectGraph

/// The statements and columns of each entity of a schema.
struct EntityStatements: Sendable {
    /// The columns that a fetch of each entity reads, at its `Entity.index`.
    private let selections: [EntitySelection]
    /// The statements that insert rows of each entity.
    private let insertions: [EntityInsertion]
    /// ``EntityInsertion/toOnes`` of each entity, at its `Entity.index`. A save of one row must not make lists of all
    /// entities.
    let toOnes: [[Relationship]]
    /// ``EntityInsertion/oneToOnes`` of each entity.
    let oneToOnes: [[Relationship]]
    /// ``EntityInsertion/memberships`` of each entity.
    let memberships: [[Relationship]]
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
        memberships = insertions.map(\.memberships)
    }

    func selection(of entity: Entity) -> EntitySelection { selections[entity.index] }

    func insertion(of entity: Entity) -> EntityInsertion { insertions[entity.index] }

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

    private struct DeletionKey: Hashable {
        let entityIndex: Int
        let form: KeyGroup.Form
    }
}
