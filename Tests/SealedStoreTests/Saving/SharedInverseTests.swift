import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Two to-many relationships that share an inverse: a member is in a relationship of the owner to which its reference
/// leads, and in none of another owner.
@Suite("Relationships that share an inverse") struct SharedInverseTests {
    private static let entities = [
        EntityDescription(
            "Team",
            attributes: [.init("name", .string)],
            relationships: [
                .init("players", to: "Person", .many, sharedInverse: "team"),
                .init("coaches", to: "Person", .many, sharedInverse: "team"),
            ]
        ),
        EntityDescription(
            "Person",
            attributes: [.init("name", .string)],
            relationships: [.init("team", to: "Team", .one)]
        ),
    ]
    private static let policies: [MergePolicy] = [
        .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
    ]

    private let coordinator: PersistentStoreCoordinator

    init() throws {
        coordinator = try Self.makeStore(nil)
        try Self.fill(coordinator)
    }

    private static func makeStore(_ history: HistoryOptions?) throws -> PersistentStoreCoordinator {
        try .withSealedStore(nil, entities, key: Library.key, history: history)
    }

    /// Inserts the teams, and Ann as a player of the red one.
    private static func fill(_ coordinator: PersistentStoreCoordinator) throws {
        let context = ManagedObjectContext(coordinator: coordinator)
        func make(_ entity: String, _ name: String) -> ManagedObject {
            let object = ManagedObject(entity: context.model.entitiesByName[entity]!, insertInto: context)
            object["name"] = .text(name)
            return object
        }
        let teams = ["red", "green", "blue"].map { make("Team", $0) }
        teams[0].addMember(make("Person", "Ann"), forRelationship: "players")
        try context.save()
    }

    private static func name(_ object: (any GraphObject)?) -> String {
        if case .text(let name) = (object as? ManagedObject)?["name"] { name } else { "nil" }
    }

    private static func find(_ name: String, _ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject
    {
        let request = FetchRequest(context.model.entitiesByName[entity]!)
        return try #require(try context.fetch(request, as: ManagedObject.self).first { self.name($0) == name })
    }

    /// The members of all teams, and the teams of all people.
    private static func content(_ context: ManagedObjectContext) throws -> [String] {
        context.processPendingChanges()
        let teams = try context.fetch(FetchRequest(context.model.entitiesByName["Team"]!), as: ManagedObject.self)
        let people = try context.fetch(FetchRequest(context.model.entitiesByName["Person"]!), as: ManagedObject.self)
        return teams.flatMap { team in
            ["players", "coaches"].flatMap { list in
                team.members(forRelationship: list).map { "\(name(team)).\(list): \(name($0))" }
            }
        } + people.map { "\(name($0)).team: \(name($0.destination(forRelationship: "team")))" }
    }

    /// Runs a statement, in which PLAYERS and COACHES stand for the tables of pairs.
    private func run(_ sql: String) throws {
        let store = try coordinator.sealedStore.opened
        var sql = sql
        for name in ["players", "coaches"] {
            guard
                case .relationship(let relationship)? = coordinator.model.entitiesByName["Team"]?.propertiesByName[name],
                let pairs = store.schema.joinTables[relationship.index]
            else { continue }
            sql.replace(name.uppercased(), with: pairs.name)
        }
        try store.writeTransaction { try $0.execute(sql) }
    }

    // one                        two
    // Ann coaches the green team
    //                            Ann plays in the blue team
    // saves
    //                            saves
    @Test(arguments: policies)
    func `a member that two contexts move is in the relationship of one owner`(policy: MergePolicy) throws {
        let one = ManagedObjectContext(coordinator: coordinator)
        let two = ManagedObjectContext(coordinator: coordinator)
        two.mergePolicy = policy
        let (green, blue) = (try Self.find("green", "Team", one), try Self.find("blue", "Team", two))
        green.addMember(try Self.find("Ann", "Person", one), forRelationship: "coaches")
        blue.addMember(try Self.find("Ann", "Person", two), forRelationship: "players")
        try one.save()
        try two.save()
        let storeWins = policy == .rollback || policy == .mergeByPropertyStoreTrump
        let expected = storeWins ? ["green.coaches: Ann", "Ann.team: green"] : ["blue.players: Ann", "Ann.team: blue"]
        #expect(try Self.content(ManagedObjectContext(coordinator: coordinator)) == expected)
        #expect(try Self.content(one) == expected)
        #expect(try Self.content(two) == expected)
        #expect(try one.storeProblems() == [])
    }

    @Test(arguments: ["Person", "Team"])
    func `an undone deletion restores both sides`(entity: String) throws {
        let context = ManagedObjectContext(coordinator: coordinator)
        context.undoManager = UndoManager()
        let before = try Self.content(context)
        let object = try Self.find(entity == "Person" ? "Ann" : "red", entity, context)
        context.delete(object)
        try context.save()
        context.undo()
        try context.save()
        #expect(try Self.content(ManagedObjectContext(coordinator: coordinator)).sorted() == before.sorted())
        #expect(try Self.content(context).sorted() == before.sorted())
        #expect(try context.storeProblems() == [])
    }

    @Test func `two stores that move a member agree after an exchange`() throws {
        let stores = try (0..<2).map { _ in try Self.makeStore(HistoryOptions(identifiesObjects: true)) }
        try Self.fill(stores[0])
        let log = ChangeLog()
        func receive(_ store: PersistentStoreCoordinator) throws {
            for changes in log.changeSets(after: try store.exchangeState().position) {
                try store.apply(changes, mergePolicy: .mergeByPropertyObjectTrump)
            }
        }
        func exchange() throws {
            for store in stores + stores + stores {
                try receive(store)
                while let changes = try store.changeSet() {
                    _ = log.append(changes)
                    try receive(store)
                }
            }
        }
        try exchange()
        for (store, team, list) in [(stores[0], "green", "coaches"), (stores[1], "blue", "players")] {
            let context = ManagedObjectContext(coordinator: store)
            let ann = try Self.find("Ann", "Person", context)
            try Self.find(team, "Team", context).addMember(ann, forRelationship: list)
            try context.save()
        }
        try exchange()
        let contents = try stores.map { try Self.content(ManagedObjectContext(coordinator: $0)) }
        #expect(contents[0] == contents[1])
        #expect(contents[0].count == 2)
        for store in stores { #expect(try store.sealedStore.check().problems == []) }
    }

    @Test(arguments: [
        (
            #"UPDATE "Person" SET "team" = 2"#, ["green.players: Ann", "Ann.team: green"],
            ["Person.team", "Team.players"]
        ),
        ("DELETE FROM PLAYERS", ["red.players: Ann", "Ann.team: red"], ["Person.team"]),
        (#"UPDATE "Person" SET "team" = NULL"#, ["red.players: Ann", "Ann.team: red"], ["Team.players"]),
        (
            #"INSERT INTO COACHES ("source", "target") VALUES (3, 1)"#, ["red.players: Ann", "Ann.team: red"],
            ["Team.coaches"]
        ),
    ])
    func `the check finds a contradiction, and the repair removes it`(
        sql: String,
        repaired: [String],
        places: [String]
    ) throws {
        try run(sql)
        let store = try coordinator.sealedStore
        let problems = try store.check().problems
        #expect(problems.allSatisfy { $0.kind == .inverseMismatch })
        #expect(problems.map { "\($0.entity ?? "").\($0.property ?? "")" }.sorted() == places)
        #expect(try store.repair([.references]).check.problems == [])
        #expect(try Self.content(ManagedObjectContext(coordinator: coordinator)) == repaired)
    }

    @Test func `a batch request does not write one side`() throws {
        let context = ManagedObjectContext(coordinator: coordinator)
        let people = context.model.entitiesByName["Person"]!
        #expect(throws: ObjectGraphError.self) {
            try context.execute(BatchUpdateRequest(people, propertiesToUpdate: ["team": .literal(.null)]))
        }
        #expect(try context.storeProblems() == [])
    }
}
