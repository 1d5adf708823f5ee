import EncryptedSQLite
import ObjectGraph

extension SealedStore {
    /// The entities and properties that the store holds and its model does not have: another program, or an earlier
    /// version of this program, has written them.
    ///
    /// Their data is encrypted, checked and backed up like the rest. It comes back when the store is opened with a model
    /// that has them again with the same types. In the meantime:
    ///
    /// - The objects of a subentity are objects of the nearest superentity that the model has.
    /// - References to objects that are deleted become nil. A deletion throws
    ///   ``SealedStoreError/requiredBySetAside(entity:property:)`` if an object of an entity that the model does not
    ///   have requires the deleted object.
    /// - New objects have no value. A required property gets its default value when it comes back. Without a default
    ///   value, and if the values of a uniqueness constraint are then the same, opening throws
    ///   ``SealedStoreError/cannotMigrate(_:)``.
    ///
    /// A stage of a migration plan removes the entities and properties that its version no longer has.
    ///
    /// - Throws: ``SealedStoreError``; `DatabaseError`.
    public func setAside() throws -> [SetAside] { try opened.setAside() }

    /// Removes the entities and properties that ``setAside()`` returns, for good, in one transaction. The file keeps
    /// its size and reuses the space; ``compact(removingSetAside:progress:)`` also overwrites it.
    ///
    /// The objects of subentities stay, as objects of the superentity. Programs that have the store open with the
    /// removed entities or properties get ``SealedStoreError/migratedByAnotherProgram(_:)`` at their next use.
    ///
    /// - Returns: The removed entities and properties.
    /// - Throws: `ObjectGraphError.storeIsReadOnly`; `DatabaseError`; ``SealedStoreError/isMigrating(operation:)`` in the
    ///   code of a migration stage.
    /// - Complexity: O(*n*) in the number of rows of the concerned tables.
    @discardableResult
    public func removeSetAside() throws -> [SetAside] {
        try opened.requireOwnDatabase(for: "removeSetAside")
        let own = opened.own
        return try opened.writeTransaction(isBulk: true) { connection in
            let content = try StoreContent.read(on: connection)
            let stored = content.metadata
            let items = SetAside.items(in: stored.fileModel, beyond: own)
            let smallest = try ModelUnion.smallest(for: own, in: stored.fileModel)
            guard let file = stored.union, !ModelChange.from(file, to: smallest).keepsShape else { return [] }
            let plan = try content.plan(for: model, own: own, on: connection)
            for entity in own.entities where entity.isRoot {
                for sql in plan.schema.table(of: entity).adoptions { try connection.execute(sql) }
            }
            let target = MigrationPlan.Target(own: own, union: smallest, refusesLosses: false)
            let migration = try MigrationPlan(
                from: stored,
                to: target,
                MigratedFile(on: connection),
                defaultValues: nil
            )
            let removed = try StoreMigration(migration, MigrationCheckResults(), on: connection, progress: nil).run()
            // The tables of the model are the same: programs with this model go on.
            try removed.with(migrationCount: stored.migrationCount).writeNoticeably(on: connection)
            try StoreMetadataTable.noteOtherOrder(on: connection)
            _ = try opened.states.reading.fitting(StoreContent.read(on: connection), on: connection)
            return items
        }
    }
}

extension OpenStore {
    /// The entities and properties that the file holds and the model does not have.
    func setAside() throws -> [SetAside] {
        try database.read { connection in
            SetAside.items(in: try StoreContent.read(on: connection).metadata.fileModel, beyond: own)
        }
    }
}

extension EntityTable {
    /// The statements that make the rows of subentities that the model does not have rows of their superentities.
    fileprivate var adoptions: [String] {
        adoptedCodes.compactMap { entity, codes in
            codes.isEmpty
                ? nil
                : """
                UPDATE \(name) SET "_entity" = \(self.codes[entity] ?? 0) \
                WHERE "_entity" IN (\(codes.sorted().map(String.init).joined(separator: ", ")))
                """
        }
    }
}
