import EncryptedSQLite
import Guarded
import ObjectGraph

/// How rows of an entity are inserted. The parameters of a row are its key, its version, the number of the entity where the
/// table has a column for it, and the values of the properties that have columns.
final class EntityInsertion: Sendable {
    let entity: Entity
    /// Inserts one row.
    let single: SQLText
    let columns: [WrittenColumn]
    let signedSlots: SignedSlots
    /// The number of the entity; nil where the table has no column for it.
    let code: Int64?
    /// The to-one relationships of the entity.
    let toOnes: [Relationship]
    /// Those of them whose inverse is to-one as well.
    let oneToOnes: [Relationship]

    /// What the statement of a block is made of; nil where there is none.
    private let parts: (beginning: String, row: String)?
    private let knownBlock = Guarded<SQLText?>(nil)

    /// The number of rows of a block.
    static let blockCount = 32
    /// From how many rows of a save on it pays to prepare the statement of a block.
    static let smallestSave = 8 * blockCount
    /// The largest number of parameters of a block.
    private static let parameterLimit = 1024

    init(of entity: Entity, _ schema: StoreSchema) {
        let table = schema.table(of: entity)
        self.entity = entity
        let properties = entity.properties.filter { table.position(of: $0) != nil }
        columns = properties.map(WrittenColumn.init)
        signedSlots = SignedSlots(entity, table)
        code = table.hasEntityColumn ? table.codes[entity] ?? 0 : nil
        toOnes = entity.relationships.filter { !$0.isToMany }
        oneToOnes = toOnes.filter { $0.inverse.map { !$0.isToMany } ?? false }

        var names = [#""_id""#, #""_version""#]
        if table.hasEntityColumn { names.append(#""_entity""#) }
        names += properties.compactMap { table.column(of: $0)?.name }
        let row = "(\(SQL.parameters(names.count)))"
        let beginning = "INSERT INTO \(table.name) (\(names.joined(separator: ", "))) VALUES "
        single = SQLText(beginning + row)
        let isBlockable = names.count * Self.blockCount <= Self.parameterLimit && !schema.hasIndexes(entity)
        parts = isBlockable ? (beginning, row) : nil
    }

    /// Inserts ``blockCount`` rows; nil where that would take longer than one after the other.
    ///
    /// SQLite keeps the pages that a statement changes as they were, to be able to take it back, unless it inserts a single
    /// row. In a table without indexes those are few pages for many rows.
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
    /// Whether texts in it may be of several forms.
    let isText: Bool

    init(_ property: Property) {
        slot = property.slot
        if case .attribute(let attribute) = property { isText = attribute.type == .string } else { isText = false }
    }
}
