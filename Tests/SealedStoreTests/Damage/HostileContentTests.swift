import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Files in which a program with the key replaced single values by ones that a store never writes.
///
/// Every value of every column is tried while a container has the file open and has read all objects, and again with a
/// new container. Each use returns a result or throws an error of the package's types; none ends the process, which
/// runs only this test.
@Suite struct HostileContentTests {
    private let folder = TemporaryFolder()

    private var lastValue: String? { try? String(contentsOf: folder.file("last"), encoding: .utf8) }

    @Test func `no value of any column ends the process`() async throws {
        let path = folder.url.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            try HostileStore.tryAllValues(in: URL(filePath: path))
        }
        #expect(lastValue == "done", "the last value that was tried")
    }

    @Test func `no value in the tables of a history and an exchange ends the process`() async throws {
        let path = folder.url.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            try HostileStore.tryAllValues(in: URL(filePath: path), ofHistory: true)
        }
        #expect(lastValue == "done", "the last value that was tried")
    }
}

/// A store with all kinds of columns. Its values are replaced one after the other.
private struct HostileStore {
    private static let values = [
        "INTEGER": [
            "NULL", "0", "-1", "1", "2", "4294967296", "9223372036854775807", "-9223372036854775808",
            "-9223372036854775807",
        ],
        "REAL": ["NULL", "1e308", "9e999", "-9e999", "5e-324"],
        "TEXT": [
            "NULL", "''", "char(0)", "CAST(x'ff00c3' AS TEXT)", "'[1,{'", "'{\"a\":[]}'", "printf('%.*c', 5000, '[')",
        ],
        "BLOB": [
            "NULL", "x''", "x'00'", "x'02'", "x'03ffff6400'", "x'038001010100'", "x'017ffefe'", "x'04'",
            "x'038000' || zeroblob(2)",
            "CAST(x'0380A0' || replace(hex(zeroblob(3000)), '00', char(100)) || x'00' AS BLOB)",
            "zeroblob(5000)",
        ],
        "ANY": [
            "NULL", "0", "-9223372036854775808", "9e999", "''", "'{}'", "'[]'", "x'ff'", "zeroblob(5000)",
            #"'{"recordsValues":true,"identifiesObjects":true,"lastDeleted":9223372036854775807,"renamings":[]}'"#,
        ],
    ]

    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Person",
                attributes: [
                    .init("name", .string), .init("age", .int8, isOptional: true), .init("size", .double),
                    .init("born", .date, isOptional: true), .init("money", .decimal), .init("tag", .uuid),
                    .init("site", .url, isOptional: true), .init("image", .data, allowsExternalStorage: true),
                    .init("big", .uint64), .init("parts", .composite, isOptional: true),
                ],
                relationships: [
                    .init("spouse", to: "Person", .one, inverse: "spouse"),
                    .init("friends", to: "Person", .many, inverse: "friends"),
                    .init("children", to: "Person", .many, inverse: "mother", isOrdered: true),
                    .init("mother", to: "Person", .one, inverse: "children"),
                    .init("boss", to: "Manager", .one, inverse: "staff"),
                    .init("places", to: "Place", .many, inverse: "people", isOrdered: true),
                ],
                indexes: [
                    FetchIndexDescription(["size", "born"], kind: .rtree),
                    FetchIndexDescription(["name"], kind: .fullText(FullTextOptions(tokenizer: .trigram))),
                ],
                uniquenessConstraints: [["tag"]]
            ),
            EntityDescription(
                "Manager",
                superentity: "Person",
                attributes: [.init("title", .string, isOptional: true)],
                relationships: [.init("staff", to: "Person", .many, inverse: "boss", deleteRule: .deny)]
            ),
            EntityDescription(
                "Child",
                superentity: "Person",
                attributes: [.init("first", .string, isOptional: true), .init("second", .int64, isOptional: true)]
            ),
            EntityDescription(
                "Place",
                attributes: [.init("name", .string)],
                relationships: [.init("people", to: "Person", .many, inverse: "places")]
            ),
        ])
    }

    /// The tables of a history and an exchange.
    private static let historyTables: Set<String> = [
        #""_history""#, #""_identity""#, #""_exchange""#, #""_applied""#, #""_metadata""#,
    ]
    /// All limits, so that saves trim the history.
    private static let historyOptions = HistoryOptions(
        recordsValues: true,
        identifiesObjects: true,
        maximumAge: 3600,
        maximumCount: 2,
        maximumByteCount: 1 << 20
    )

    private let coordinator: PersistentStoreCoordinator
    private let store: SealedStore
    private let hasHistory: Bool

    private init(_ url: URL, hasHistory: Bool) throws {
        SealedStore.register()
        self.hasHistory = hasHistory
        coordinator = PersistentStoreCoordinator(model: try Self.model())
        var options: [String: any Sendable] = [SealedStore.keyOption: try EncryptionKey.raw(Array(1...32))]
        if hasHistory { options[SealedStore.historyOption] = Self.historyOptions }
        try coordinator.addPersistentStore(
            PersistentStoreDescription(type: SealedStore.storeType, url: url, options: options)
        )
        struct IsNoSealedStore: Error {}
        guard let store = try coordinator.store(for: coordinator.model.entities[0]).store as? SealedStore else {
            throw IsNoSealedStore()
        }
        self.store = store
    }

    private func fill() throws {
        let context = ManagedObjectContext(coordinator: coordinator)
        let people = try ["Person", "Manager", "Child", "Person"].enumerated().map { number, entity in
            let person = ManagedObject(entity: coordinator.model.entitiesByName[entity]!, insertInto: context)
            person["name"] = .text("person \(number)")
            person["size"] = .real(Double(number) + 0.5)
            person["born"] = .real(1)
            person["money"] = try #require(Decimal(string: "1\(number).25")).storedValue
            person["tag"] = .uuid(UUID())
            person["image"] = .blob(Data(repeating: 7, count: number * 3000))
            person["big"] = .integer(-5)
            person["parts"] = .text("[1,2]")
            return person
        }
        let place = ManagedObject(entity: coordinator.model.entitiesByName["Place"]!, insertInto: context)
        place["name"] = .text("place")
        people[0].setDestination(people[3], forRelationship: "spouse")
        people[0].setMembers([people[1], people[2]], forRelationship: "friends")
        people[0].setMembers([people[2], people[3]], forRelationship: "children")
        people[0].setDestination(people[1], forRelationship: "boss")
        people[0].setMembers([place], forRelationship: "places")
        try context.save()
        guard hasHistory else { return }
        // A change set that is not in the common order, and transactions behind it.
        _ = try coordinator.changeSet()
        for name in ["a", "b"] {
            place["name"] = .text(name)
            try context.save()
        }
    }

    // MARK: Values

    /// - Parameter ofHistory: Whether the values are those in the tables of a history and an exchange; otherwise those
    ///   in all tables of a store without them.
    static func tryAllValues(in folder: URL, ofHistory: Bool = false) throws {
        let original = folder.appending(path: "original")
        let file = folder.appending(path: "store")
        do {
            let made = try HostileStore(original, hasHistory: ofHistory)
            try made.fill()
            try made.coordinator.removeAllStores()
        }
        let columns = try {
            let made = try HostileStore(original, hasHistory: ofHistory)
            defer { try? made.coordinator.removeAllStores() }
            return try made.columns()
        }()
        for (table, column, type) in columns where !ofHistory || historyTables.contains(table) {
            for row in rows(of: table, inHistory: ofHistory) {
                for value in values[type] ?? [] {
                    let text = "\(table).\(column) = \(value) where \(row)"
                    try text.write(to: folder.appending(path: "last"), atomically: false, encoding: .utf8)
                    try FileManager.default.copyItem(at: original, to: file)
                    try expectingOwnErrors(text) {
                        try HostileStore(file, hasHistory: ofHistory)
                            .tryValue("UPDATE OR REPLACE \(table) SET \(column) = \(value) WHERE \(row)")
                    }
                    try expectingOwnErrors(text) { try HostileStore(file, hasHistory: ofHistory).walk() }
                    for suffix in ["", "-wal", "-shm"] {
                        try? FileManager.default.removeItem(at: URL(filePath: file.path + suffix))
                    }
                }
            }
        }
        try "done".write(to: folder.appending(path: "last"), atomically: false, encoding: .utf8)
    }

    /// The columns of tables whose values a program can change, with their names quoted.
    private func columns() throws -> [(table: String, column: String, type: String)] {
        try store.opened.database.read { connection in
            let sql = """
                SELECT t.name, c.name, c.type FROM pragma_table_list AS t JOIN pragma_table_xinfo(t.name) AS c \
                WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY 1, 2
                """
            return try connection.withStatement(sql) { statement in
                var columns: [(String, String, String)] = []
                while try statement.step() {
                    columns.append(
                        (
                            SQL.quoted(statement.string(at: 0)), SQL.quoted(statement.string(at: 1)),
                            statement.string(at: 2)
                        )
                    )
                }
                return columns
            }
        }
    }

    /// Replaces a value while a context has read all objects.
    private func tryValue(_ sql: String) throws {
        defer { try? coordinator.removeAllStores() }
        let context = ManagedObjectContext(coordinator: coordinator)
        try walk(context)
        // The column may refuse the value.
        do {
            try store.opened.database.write { try $0.execute(sql) }
        } catch is DatabaseError {
            return
        }
        try walk(context)
        try change(context)
        try Self.ignoringOwnErrors { _ = try store.check() }
        if hasHistory { try useHistory() }
    }

    /// The conditions of the rows whose values are replaced.
    private static func rows(of table: String, inHistory: Bool) -> [String] {
        switch table {
        case #""_metadata""#: [inHistory ? #""key" = 'history'"# : #""key" = 'names'"#]
        case #""_sequence""#: [#""entity" = 'Person'"#]
        case #""Person""#, #""Place""#: [#""_id" = 1"#]
        case #""_history""#, #""_applied""#:
            ["min", "max"].map { #""_id" = (SELECT \#($0)("_id") FROM \#(table))"# }
        case #""_exchange""#: [#""_id" = 1"#]
        case #""_identity""#: [#""key" = 1"#]
        default: [#""source" = 1"#]
        }
    }

    // MARK: Uses

    /// Walks a new context.
    private func walk() throws {
        let context = ManagedObjectContext(coordinator: coordinator)
        try walk(context)
        try change(context)
        if hasHistory { try useHistory() }
    }

    /// Uses the history and the exchange in all ways, and removes them.
    private func useHistory() throws {
        var last: Int64 = 0
        try Self.ignoringOwnErrors { last = try coordinator.historyState().lastTransaction }
        for number in [0, 1, last, .max] {
            try Self.ignoringOwnErrors {
                for transaction in try coordinator.history(HistoryFetchRequest(after: number)) {
                    _ = transaction.changes.map(\.id)
                }
            }
        }
        try Self.ignoringOwnErrors {
            let context = ManagedObjectContext(coordinator: coordinator)
            let places = try context.fetchIDs(FetchRequest(coordinator.model.entitiesByName["Place"]!))
            for identifier in try places.compactMap(store.globalIdentifier) {
                _ = try store.objectID(forGlobalIdentifier: identifier)
            }
        }
        var changes: ChangeSet?
        try Self.ignoringOwnErrors { changes = try coordinator.changeSet() }
        if let changes { try Self.ignoringOwnErrors { try coordinator.apply(changes) } }
        try Self.ignoringOwnErrors { _ = try coordinator.exchangeState() }
        try Self.ignoringOwnErrors { _ = try store.trimHistory() }
        try Self.ignoringOwnErrors { try coordinator.deleteHistory(HistoryDeletionRequest(.through(last))) }
        try Self.ignoringOwnErrors { try coordinator.deleteHistory(HistoryDeletionRequest(.numbers([1, .max]))) }
        try Self.ignoringOwnErrors { try store.removeHistory() }
        try Self.ignoringOwnErrors { _ = try store.check() }
    }

    private func walk(_ context: ManagedObjectContext) throws {
        for entity in coordinator.model.entities {
            let request = FetchRequest(entity)
            let path = { (name: String) in entity.propertiesByName[name].map { QueryExpression.path($0) } }
            try Self.ignoringOwnErrors { _ = try context.fetchIDs(request) }
            try Self.ignoringOwnErrors { _ = try context.count(request) }
            try Self.ignoringOwnErrors {
                for object in try context.fetch(request, as: ManagedObject.self) { read(object) }
            }
            try Self.ignoringOwnErrors {
                var faults = request
                faults.returnsObjectsAsFaults = true
                for object in try context.fetch(faults, as: ManagedObject.self) { read(object) }
            }
            for key in [Int64.min, -1, 0, 1, 2, .max] {
                let id = ManagedObjectID(entity: entity, storeUUID: coordinator.storeUUID(for: entity), key: key)
                try Self.ignoringOwnErrors { _ = try context.existingObject(with: id) }
            }
            guard let money = path("money"), let size = path("size"), let parts = path("parts") else { continue }
            try Self.ignoringOwnErrors {
                var sums = DictionaryFetchRequest(entity)
                sums.propertiesToFetch = [
                    .init("sum", .aggregate(.sum, of: money)), .init("average", .aggregate(.average, of: money)),
                    .init("product", .aggregate(.maximum, of: .arithmetic(.multiply, money, size))),
                ]
                _ = try context.fetchDictionaries(sums)
            }
            try Self.ignoringOwnErrors {
                var sorted = request
                sorted.predicate = .and([
                    .comparison(.greater, size, .literal(.real(-1))),
                    .comparison(.notEqual, .component([.index(0)], of: parts, type: .int64), .literal(.integer(7))),
                ])
                sorted.sort = [QuerySort(money)]
                _ = try context.count(sorted)
            }
            try Self.ignoringOwnErrors {
                var search = request
                search.search = FullTextSearch(.words("person"))
                _ = try context.count(search)
            }
        }
    }

    private func read(_ object: ManagedObject) {
        for property in object.entity.properties {
            switch property {
            case .attribute(let attribute):
                let value = object[attribute.name]
                if attribute.type == .decimal { _ = Decimal(storedValue: value) }
            case .relationship(let relationship) where relationship.isToMany:
                for member in object.members(forRelationship: relationship.name) { _ = member.managedObjectID }
            case .relationship(let relationship):
                _ = (object.destination(forRelationship: relationship.name) as? ManagedObject)?["name"]
            }
        }
    }

    /// Changes and saves every value, inserts objects, and deletes objects.
    private func change(_ context: ManagedObjectContext) throws {
        let people = coordinator.model.entitiesByName["Person"]!
        try Self.ignoringOwnErrors {
            for object in try context.fetch(FetchRequest(people), as: ManagedObject.self) {
                object["name"] = .text("changed")
                object["money"] = Decimal(7).storedValue
            }
            try context.save()
        }
        context.reset()
        try Self.ignoringOwnErrors {
            let place = ManagedObject(entity: coordinator.model.entitiesByName["Place"]!, insertInto: context)
            place["name"] = .text("new")
            try context.save()
        }
        context.reset()
        try Self.ignoringOwnErrors {
            if let first = try context.fetch(FetchRequest(people), as: ManagedObject.self).first {
                context.delete(first)
            }
            try context.save()
        }
        context.reset()
    }

    // MARK: Errors

    private struct ForeignError: Error {
        let text: String
    }

    private static func ignoringOwnErrors(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error where isOwn(error) {}
    }

    private static func expectingOwnErrors(_ text: String, _ body: () throws -> Void) throws {
        do {
            try ignoringOwnErrors(body)
        } catch {
            throw ForeignError(text: "\(text): \(error)")
        }
    }

    private static func isOwn(_ error: any Error) -> Bool {
        error is DatabaseError || error is SealedStoreError || error is ObjectGraphError || error is SaveConflict
            || error is QueryError || error is FullTextError || error is ModelError
            || error is PersistentHistoryError || error is ExchangeError
    }
}
