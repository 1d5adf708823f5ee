import EncryptedSQLite
import ObjectGraph

extension SaveTransaction {
    /// Makes the two sides of the one-to-one relationships that a save has written consistent.
    ///
    /// A context writes both sides of a changed relationship. Since the context read the destination, another container
    /// or process may have related it to another object, whose row the context does not know and does not change: that
    /// row loses its reference.
    ///
    /// - Throws: `SaveConflict.lostDestinations` with objects that would lose a required destination.
    /// - Complexity: three statements for each row that refers to a row of another save.
    mutating func alignOneToOnes(of request: SaveChangesRequest) throws {
        let oneToOnes = store.statements.oneToOnes
        guard oneToOnes.contains(where: { !$0.isEmpty }) else { return }
        // The save writes both sides of the relationships of these objects.
        let entities = store.schema.model.entities
        let inserted = Set(
            request.inserted.lazy.filter { !oneToOnes[$0.entityIndex].isEmpty }.map {
                ObjectPlace(rootIndex: entities[$0.entityIndex].rootIndex, key: $0.key)
            }
        )
        for row in request.inserted {
            for relationship in oneToOnes[row.entityIndex] {
                let destination = row.integer(at: relationship.slot)
                let place = ObjectPlace(rootIndex: relationship.destination.rootIndex, key: destination)
                guard destination != 0, !inserted.contains(place) else { continue }
                try align(relationship, from: row.key, to: destination)
            }
        }
        for (row, update) in zip(request.updated, request.updates) {
            for relationship in oneToOnes[row.entityIndex] where update.slots.contains(relationship.slot) {
                try align(relationship, from: row.key, to: row.integer(at: relationship.slot))
            }
        }
    }

    /// Makes a destination refer back to its source, and clears the references of other rows to the source and to the
    /// destination. The destination 0 means no destination.
    private mutating func align(_ relationship: Relationship, from source: Int64, to destination: Int64) throws {
        guard let inverse = relationship.inverse else { return }
        if destination != 0 {
            try clear(relationship, leadingTo: destination, except: source)
            let table = store.schema.table(of: inverse.source).name
            let column = store.schema.keyColumn(of: inverse).name
            try history?.keepOldValues([destination], of: store.schema.model.root(of: inverse.source))
            let version = VersionWord.increment(writing: [])
            let sql =
                #"UPDATE \#(table) SET \#(column) = ?1, \#(version) WHERE "_id" = ?2 AND \#(column) IS NOT ?1"#
            try connection.withStatement(sql) { statement in
                try statement.bind(source, at: 1)
                try statement.bind(destination, at: 2)
                try statement.run()
            }
            if connection.changes > 0 {
                history?.note(inverse, of: destination)
                cleared.add([destination], of: inverse)
            }
        }
        try clear(inverse, leadingTo: source, except: destination)
    }

    /// Clears a to-one relationship of the rows that refer to a destination, except for one row.
    private mutating func clear(
        _ relationship: Relationship,
        leadingTo destination: Int64,
        except source: Int64
    ) throws {
        let column = store.schema.keyColumn(of: relationship).name
        let condition = #"\#(column) = ?1 AND "_id" <> ?2"#
        let finding = SQLText(
            #"SELECT "_id" FROM \#(store.schema.table(of: relationship.source).name) WHERE \#(condition)"#
        )
        let bind = { (statement: borrowing Statement) in
            try statement.bind(destination, at: 1)
            try statement.bind(source, at: 2)
        }
        if relationship.isOptional {
            let clearing = SQLText(store.schema.clearing(relationship, where: condition))
            return try clear(relationship, with: clearing, finding: finding, bind)
        }
        let others = try connection.keys(finding, bind)
        guard others.isEmpty else {
            throw SaveConflict.lostDestinations(
                others.map {
                    WrittenReference(
                        source: id(relationship.source, $0),
                        relationship: relationship,
                        destination: id(relationship.destination, destination)
                    )
                }
            )
        }
    }
}
