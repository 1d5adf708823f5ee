import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Relationships with limited numbers of members, also when two containers change them at the same time.
@Suite struct MemberLimitTests {
    private let folder = TemporaryFolder()

    /// A team of two to four players.
    private func context(_ isManyToMany: Bool, _ policy: MergePolicy = .error) throws -> ManagedObjectContext {
        let inverse = RelationshipDescription("teams", to: "Team", isManyToMany ? .many : .one, inverse: "players")
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Team",
                relationships: [
                    .init("players", to: "Player", .many, inverse: "teams", minimumCount: 2, maximumCount: 4)
                ]
            ),
            EntityDescription("Player", attributes: [.init("number", .int64)], relationships: [inverse]),
        ])
        let coordinator = PersistentStoreCoordinator(model: model)
        try InterruptedStore.add(to: coordinator, folder.file("teams.store"), nil)
        let context = ManagedObjectContext(coordinator: coordinator)
        context.mergePolicy = policy
        return context
    }

    private func makeTeam(_ count: Int, in context: ManagedObjectContext) throws {
        let team = ManagedObject(entity: context.model.entitiesByName["Team"]!, insertInto: context)
        team.setMembers((0..<count).map { makePlayer($0, in: context) }, forRelationship: "players")
        try context.save()
    }

    private func makePlayer(_ number: Int, in context: ManagedObjectContext) -> ManagedObject {
        let player = ManagedObject(entity: context.model.entitiesByName["Player"]!, insertInto: context)
        player["number"] = .integer(Int64(number))
        return player
    }

    private func team(_ context: ManagedObjectContext) throws -> ManagedObject {
        try #require(
            try context.fetch(FetchRequest(context.model.entitiesByName["Team"]!), as: ManagedObject.self).first
        )
    }

    /// The number of members in the store.
    private func storedCount(_ isManyToMany: Bool) throws -> Int {
        let reader = try context(isManyToMany)
        return try withExtendedLifetime(reader) { try team(reader).members(forRelationship: "players").count }
    }

    private func player(_ number: Int, in context: ManagedObjectContext) throws -> ManagedObject {
        let players = try context.fetch(FetchRequest(context.model.entitiesByName["Player"]!), as: ManagedObject.self)
        return try #require(players.first { $0["number"] == .integer(Int64(number)) })
    }

    private func add(_ number: Int, in context: ManagedObjectContext, fromOtherSide: Bool) throws {
        let (team, player) = (try team(context), makePlayer(number, in: context))
        guard fromOtherSide else {
            return team.setMembers(team.members(forRelationship: "players") + [player], forRelationship: "players")
        }
        if player.entity.relationships[0].isToMany {
            player.setMembers([team], forRelationship: "teams")
        } else {
            player.setDestination(team, forRelationship: "teams")
        }
    }

    private func remove(_ number: Int, in context: ManagedObjectContext) throws {
        let team = try team(context)
        let rest = team.members(forRelationship: "players").filter {
            ($0 as? ManagedObject)?["number"] != .integer(Int64(number))
        }
        team.setMembers(rest, forRelationship: "players")
    }

    private func expectReason(
        _ reason: ObjectGraphError.ValidationProblem.Reason,
        _ body: () throws -> Void,
        location: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: ObjectGraphError.self, sourceLocation: location) { try body() }
        guard case .validation(let problems)? = error else {
            Issue.record("the error is \(String(describing: error))", sourceLocation: location)
            return
        }
        #expect(problems.map(\.reason) == [reason], sourceLocation: location)
        #expect(problems.map(\.property) == ["players"], sourceLocation: location)
    }

    // container 1                  container 2
    // reads all
    // adds or removes a player
    // prepares its save
    //                              adds or removes another player, saves
    // writes its save
    @Test(arguments: [false, true], [false, true])
    func `members that two containers add at the same time count together`(
        isManyToMany: Bool,
        fromOtherSide: Bool
    ) throws {
        let first = try context(isManyToMany)
        for policy in [MergePolicy.error, .mergeByPropertyStoreTrump, .overwrite] {
            try makeTeam(3, in: first)
            let (one, other) = (try context(isManyToMany, policy), try context(isManyToMany, policy))
            try add(10, in: one, fromOtherSide: fromOtherSide)
            try add(20, in: other, fromOtherSide: fromOtherSide)
            try InterruptedStore.of(one).beforeSave = { try other.save() }
            expectReason(.tooManyMembers) { try one.save() }
            #expect(try storedCount(isManyToMany) == 4)
            one.rollback()
            #expect(try team(one).members(forRelationship: "players").count == 4)
            #expect(try InterruptedStore.of(one).check() == [])
            try first.coordinator.eraseStores()
        }
    }

    @Test(arguments: [false, true])
    func `members that two containers remove at the same time count together`(isManyToMany: Bool) throws {
        try makeTeam(3, in: try context(isManyToMany))
        let (one, other) = (try context(isManyToMany, .overwrite), try context(isManyToMany))
        try remove(1, in: one)
        try remove(2, in: other)
        try InterruptedStore.of(one).beforeSave = { try other.save() }
        expectReason(.tooFewMembers) { try one.save() }
        #expect(try storedCount(isManyToMany) == 2)
        // Together with a new member, the removal is allowed.
        try add(30, in: one, fromOtherSide: false)
        try one.save()
        #expect(try storedCount(isManyToMany) == 2)
        #expect(try InterruptedStore.of(one).check() == [])
    }

    @Test(arguments: [false, true])
    func `the deletion of a member counts for an owner that was not read`(isManyToMany: Bool) throws {
        try makeTeam(2, in: try context(isManyToMany))
        let context = try context(isManyToMany)
        context.delete(try player(1, in: context))
        expectReason(.tooFewMembers) { try context.save() }
    }

    @Test func `a member that leaves its owner counts for an owner that was not read`() throws {
        try makeTeam(2, in: try context(false))
        let context = try context(false)
        try player(1, in: context).setDestination(nil, forRelationship: "teams")
        expectReason(.tooFewMembers) { try context.save() }
    }
}
