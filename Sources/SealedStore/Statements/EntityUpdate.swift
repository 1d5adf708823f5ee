import EncryptedSQLite
import ObjectGraph

/// The statement that writes some slots of a row of an entity if the row still has the version that was read. The
/// parameters are the new version, the values of ``columns``, the key, and the version that was read.
///
/// A member whose owner changes loses its position among the members of the old owner.
final class EntityUpdate: Sendable {
    let entity: Entity
    let slots: SlotSet
    let sql: SQLText
    let columns: [WrittenColumn]
    let table: EntityTable
    /// The written columns that may hold references to large values.
    let referring: [Column]
    /// The columns that are not written, and whose large values are stored in their own table.
    let unwritten: [WrittenColumn]

    init(of entity: Entity, _ slots: SlotSet, _ table: EntityTable) {
        self.entity = entity
        self.slots = slots
        let properties = entity.properties.filter { slots.contains($0.slot) && table.position(of: $0) != nil }
        let others = table.otherSignBits
        var assignments = [others == 0 ? #""_version" = ?1"# : #""_version" = ?1 | ("_version" & \#(others))"#]
        for (index, property) in properties.enumerated() {
            guard let column = table.column(of: property)?.name else { continue }
            assignments.append("\(column) = ?\(index + 2)")
            guard case .relationship(let relationship) = property,
                let position = relationship.inverse.flatMap({ table.positionColumns[$0] })
            else { continue }
            assignments.append("\(position) = CASE WHEN \(column) IS ?\(index + 2) THEN \(position) END")
        }
        sql = SQLText(
            """
            UPDATE \(table.name) SET \(assignments.joined(separator: ", ")) \
            WHERE "_id" = ? AND \(VersionWord.condition("?"))
            """
        )
        columns = properties.map { WrittenColumn($0, of: entity, table) }
        referring = columns.compactMap(\.referring)
        unwritten = entity.properties.filter { !slots.contains($0.slot) }
            .compactMap { table.column(of: $0) == nil ? nil : WrittenColumn($0, of: entity, table) }
            .filter(\.hasLargeValues)
        self.table = table
    }
}
