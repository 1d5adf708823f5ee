import EncryptedSQLite
import ObjectGraph

extension OpenStore {
    /// Clears the references to deleted rows in relationships that the model does not have.
    ///
    /// - Parameters:
    ///   - condition: The condition on a column that it holds the key of a deleted row.
    ///   - bind: Binds the parameters of the condition.
    /// - Throws: ``SealedStoreError/requiredBySetAside(entity:property:)``.
    func clearAsideReferences(
        to entity: Entity,
        _ history: HistoryRecorder?,
        on connection: Connection,
        where condition: (_ column: String) -> String,
        binding bind: (borrowing Statement) throws -> Void
    ) throws {
        guard let aside = try states.state(on: connection).schema.aside else { return }
        for reference in aside.references(to: model.root(of: entity)) {
            let condition = condition(reference.column)
            let relationship = reference.relationship
            if let finding = reference.finding(where: condition) {
                let isFound = try connection.withStatement(finding) { statement in
                    try bind(statement)
                    return try statement.step()
                }
                guard !isFound else {
                    throw SealedStoreError.requiredBySetAside(
                        entity: relationship.source.name,
                        property: relationship.name
                    )
                }
                continue
            }
            let clearing = SQLText(reference.clearing(where: condition))
            if reference.isPair {
                try connection.withStatement(clearing) { statement in
                    try bind(statement)
                    try statement.run()
                }
            } else {
                let keys = try connection.keys(clearing, bind)
                history?.noteAside(keys, of: relationship)
            }
        }
    }

    /// Deletes the rows of entities and the pairs of relationships that the model does not have.
    func eraseAside(on connection: Connection) throws {
        guard let aside = try states.state(on: connection).schema.aside else { return }
        for pairs in aside.otherPairs { try connection.execute("DELETE FROM \(pairs.name)") }
        for root in aside.otherRoots { try connection.execute("DELETE FROM \(aside.schema.table(of: root).name)") }
        // The history does not have these deletions.
        guard !aside.otherRoots.isEmpty, var settings = try HistorySettings.read(on: connection) else { return }
        try settings.noteUnrecordedChanges(on: connection)
    }
}
