/// Creates a database in memory, with the settings of a file's connections but without a key.
enum MemoryOpening {
    static func open(
        options: Database.Options,
        counters: StatisticsCounters,
        create: (Connection) throws -> Void,
        verify: (Connection) throws -> Void
    ) throws -> Connection {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        let connection = try ConnectionOpener.connect(
            DatabaseFiles(path: "", namedPath: ""),
            options: options,
            counters: counters,
            inMemory: true
        )
        try ConnectionOpener.applySettings(connection, options: options, durability: options.durability)
        StatementAuthorizer.install(on: connection)
        try FileCreation.buildSchema(on: connection, options: options, create: create)
        try verify(connection)
        return connection
    }
}
