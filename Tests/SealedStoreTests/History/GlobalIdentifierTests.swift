import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite("Global identifiers of objects") struct GlobalIdentifierTests {
    private let folder = TemporaryFolder()
    private let options = HistoryOptions(identifiesObjects: true)

    private var url: URL { folder.file("club.store") }

    @Test func `an object gets its identifier with its insertion, and is found by it`() throws {
        let club = try Club(url, history: options)
        let people = (0..<5).map { club.person("\($0)", $0.isMultiple(of: 2) ? "Person" : "Student") }
        try club.context.save()
        try club.context.execute(BatchInsertRequest(club.entity("Team"), objects: [["title": .text("t")]]))
        let team = try #require(try club.context.fetchIDs(FetchRequest(club.entity("Team"))).first)
        var identifiers: [UUID] = []
        for id in people.map(\.managedObjectID) + [team] {
            let identifier = try #require(try club.store.globalIdentifier(of: id))
            #expect(try club.store.objectID(forGlobalIdentifier: identifier) == id)
            #expect(identifier.uuid.6 >> 4 == 7 && identifier.uuid.8 >> 6 == 2)
            identifiers.append(identifier)
        }
        #expect(Set(identifiers).count == 6)
        let texts = identifiers.dropLast().map(\.uuidString)
        #expect(texts == texts.sorted(), "in the order of their creation")
        club.context.delete(people[0])
        try club.context.save()
        #expect(try club.store.objectID(forGlobalIdentifier: identifiers[0]) == nil)
        #expect(try club.store.globalIdentifier(of: people[0].managedObjectID) == identifiers[0])
        #expect(try club.store.objectID(forGlobalIdentifier: UUID()) == nil)
        #expect(try club.check() == [])
    }

    @Test func `existing objects get identifiers, and other programs give them, too`() throws {
        let first = try Club(url, history: nil)
        let early = first.person("early")
        try first.context.save()
        #expect(try first.store.globalIdentifier(of: early.managedObjectID) == nil)
        let second = try Club(url, history: options)
        let late = first.person("late")
        try first.context.save()
        let identifiers = try [early, late].map {
            try #require(try first.store.globalIdentifier(of: $0.managedObjectID))
        }
        #expect(try second.store.objectID(forGlobalIdentifier: identifiers[1])?.key == late.key)
        try second.store.removeHistory()
        #expect(try first.store.globalIdentifier(of: early.managedObjectID) == nil)
        #expect(try first.check() == [])
    }

    @Test func `a migration keeps the identifiers of objects, also with other keys`() throws {
        let options: [String: any Sendable] = [SealedStore.historyOption: options]
        let attribute = AttributeDescription("key", .string, isOptional: true)
        let before = try MigratingStore(
            url,
            [EntityDescription("Cat", attributes: [attribute]), EntityDescription("Dog", attributes: [attribute])],
            options: options
        )
        let objects = [before.insert("Cat"), before.insert("Dog"), before.insert("Dog")]
        try before.context.save()
        let identifiers = try objects.map { object in
            try #require(try before.store().globalIdentifier(of: object.managedObjectID))
        }
        try before.close()
        let after = try MigratingStore(
            url,
            [
                EntityDescription("Animal", attributes: [attribute]), EntityDescription("Cat", superentity: "Animal"),
                EntityDescription("Dog", superentity: "Animal"),
            ]
        )
        let found = try identifiers.map { try after.store().objectID(forGlobalIdentifier: $0) }
        #expect(found.map { $0?.entity.name } == ["Cat", "Dog", "Dog"])
        #expect(try after.store().check() == [])
    }
}
