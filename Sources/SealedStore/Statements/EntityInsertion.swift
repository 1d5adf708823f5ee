import EncryptedSQLite
import Guarded
import ObjectGraph

/// The statements that insert rows of an entity. The parameters of a row are its key, its version, the number of the
/// entity if the table has a column for it, and the values of the properties with columns.
final class EntityInsertion: Sendable {
    let entity: Entity
    /// Inserts one row.
    let single: SQLText
    let columns: [WrittenColumn]
    let signedSlots: SignedSlots
    /// The number of the entity; nil if the table has no column for it.
    let code: Int64?
    /// The to-one relationships of the entity.
    let toOnes: [Relationship]
    /// The one-to-one relationships among them.
    let oneToOnes: [Relationship]
    /// The to-one relationships with a to-many inverse.
    let memberships: [Relationship]
    /// The slots with columns.
    let columnSlots: SlotSet
    /// The slots of attributes whose values the history keeps.
    let preservedSlots: SlotSet

    /// The parts of the statement of a block; nil if the entity has no such statement.
    private let parts: (beginning: String, row: String)?
    private let knownBlock = Guarded<SQLText?>(nil)

    /// The number of rows of a block.
    static let blockCount = 32
    /// The number of rows of a save from which the preparation of a block's statement pays off.
    static let smallestSave = 8 * blockCount
    /// The largest number of parameters of a block.
    private static let parameterLimit = 1024

    init(of entity: Entity, _ schema: StoreSchema) {
        let table = schema.table(of: entity)
        self.entity = entity
        let properties = entity.properties.filter { table.position(of: $0) != nil }
        columns = properties.map { WrittenColumn($0, of: entity, table) }
        signedSlots = SignedSlots(entity, table)
        code = table.hasEntityColumn ? table.codes[entity] ?? 0 : nil
        toOnes = entity.relationships.filter { !$0.isToMany }
        oneToOnes = toOnes.filter { $0.inverse.map { !$0.isToMany } ?? false }
        memberships = toOnes.filter { $0.inverse?.isToMany ?? false }
        columnSlots = SlotSet(properties)
        preservedSlots = SlotSet(
            properties.filter { property in
                if case .attribute(let attribute) = property {
                    attribute.description.preservesValueOnDeletion
                } else {
                    false
                }
            }
        )

        var names = [#""_id""#, #""_version""#]
        if table.hasEntityColumn { names.append(#""_entity""#) }
        names += properties.compactMap { table.column(of: $0)?.name }
        let row = "(\(SQL.parameters(names.count)))"
        let beginning = "INSERT INTO \(table.name) (\(names.joined(separator: ", "))) VALUES "
        single = SQLText(beginning + row)
        let isBlockable = names.count * Self.blockCount <= Self.parameterLimit && !schema.hasIndexes(entity)
        parts = isBlockable ? (beginning, row) : nil
    }

    /// Inserts ``blockCount`` rows; nil if that is slower than single insertions.
    ///
    /// SQLite keeps the original of each page that a statement changes, to be able to roll the statement back, unless
    /// it inserts a single row. In a table without indexes these are few pages for many rows.
    var block: SQLText? {
        guard let parts else { return nil }
        return knownBlock.withLock { known in
            if let known { return known }
            let rows = Array(repeating: parts.row, count: Self.blockCount).joined(separator: ", ")
            let block = SQLText(parts.beginning + rows)
            known = block
            return block
        }
    }
}

/// The column of a property in a statement.
struct WrittenColumn {
    let slot: Int
    /// Whether the column may hold texts in several forms.
    let isText: Bool
    /// The column if it may hold references to large values; otherwise nil.
    let referring: Column?
    /// Whether large values are stored in their own table. The index of a unique property needs the values.
    let hasLargeValues: Bool

    init(_ property: Property, of entity: Entity, _ table: EntityTable) {
        slot = property.slot
        referring = table.column(of: property).flatMap { $0.mayRefer ? $0 : nil }
        hasLargeValues =
            referring?.isDeferrable ?? false && !entity.uniquenessConstraints.joined().contains(property.slot)
        if case .attribute(let attribute) = property { isText = attribute.type == .string } else { isText = false }
    }
}
