import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// What the author of a change set has decided holds in each store: the receivers do not decide it again.
@Suite("Decisions of a change set's author") struct AuthorDecisionTests {
    private let folder = TemporaryFolder()
    private let log = ChangeLog()

    private func branches(_ count: Int, _ declarations: [EntityDescription]) throws -> [Branch] {
        try (0..<count).map { try Branch(folder.file("\($0).store"), declarations: declarations) }
    }

    private func requireEqual(_ branches: [Branch]) throws {
        for branch in branches {
            #expect(try branch.coordinator.changeSet() == nil)
            #expect(try branch.content() == branches[0].content())
            #expect(try branch.store.check() == [])
        }
    }

    /// Albums with photos: the relationship of albums has a rule, and change sets contain the side of either class.
    private func albums(
        _ rule: RelationshipDescription.DeleteRule,
        toMany: Bool,
        isMirrored: Bool
    ) -> [EntityDescription] {
        let album = isMirrored ? "Zalbum" : "Album"
        let cardinality: RelationshipDescription.Cardinality = toMany ? .many : .one
        return [
            EntityDescription(
                album,
                attributes: [.init("name", .string)],
                relationships: [.init("photos", to: "Photo", cardinality, inverse: "albums", deleteRule: rule)]
            ),
            EntityDescription(
                "Photo",
                attributes: [.init("name", .string)],
                relationships: [.init("albums", to: album, cardinality, inverse: "photos")]
            ),
        ]
    }

    // first                                   | second
    // takes the photo out of the album        |
    // deletes the album                       |
    // sends the deletion                      | receives it, changes nothing itself
    @Test(arguments: [RelationshipDescription.DeleteRule.cascade, .deny, .nullify], [true, false])
    func `an object that left before the deletion is neither deleted nor a reason to deny it`(
        rule: RelationshipDescription.DeleteRule,
        toMany: Bool
    ) throws {
        for isMirrored in [false, true] {
            let log = ChangeLog()
            let declarations = albums(rule, toMany: toMany, isMirrored: isMirrored)
            let stores = try (0..<2).map {
                try Branch(folder.file("\(isMirrored)-\($0).store"), declarations: declarations)
            }
            let name = declarations[0].name
            let album = try stores[0].insert(name, ["name": "summer"])
            let photo = try stores[0].insert("Photo", ["name": "beach"])
            if toMany {
                album.add(photo, to: "photos")
            } else {
                album.setDestination(photo, forRelationship: "photos")
            }
            try stores[0].context.save()
            try stores[0].exchange(log)
            try stores[1].exchange(log)
            if toMany {
                album.remove(photo, from: "photos")
            } else {
                album.setDestination(nil, forRelationship: "photos")
            }
            try stores[0].context.save()
            try stores[0].delete(album)
            try stores[0].exchange(log)
            #expect(try stores[1].exchange(log) == [])
            #expect(try stores[1].count("Photo") == 1)
            #expect(try stores[1].count(name) == 0)
            #expect(log.changeSets.count == 2, "nothing comes back")
            try requireEqual(stores)
        }
    }

    // first                | second                                  | third
    // gives the note a tag |                                         |
    // sends #2             | deletes the note, makes one of the same title |
    //                      | receives #2, sends #3                   | receives #2, #3
    @Test func `a deletion that a rule of another store would deny is applied, and its unique value is free`() throws {
        let stores = try branches(
            3,
            [
                EntityDescription(
                    "Note",
                    attributes: [.init("title", .string)],
                    relationships: [.init("tags", to: "Tag", .many, inverse: "notes", deleteRule: .deny)],
                    uniquenessConstraints: [["title"]]
                ),
                EntityDescription(
                    "Tag",
                    attributes: [.init("name", .string)],
                    relationships: [.init("notes", to: "Note", .many, inverse: "tags")]
                ),
            ]
        )
        let tag = try stores[0].insert("Tag", ["name": "work"])
        let note = try stores[0].insert("Note", ["title": "letter"])
        for store in stores { try store.exchange(log) }
        note.add(tag, to: "tags")
        try stores[0].context.save()
        try stores[1].delete(#require(try stores[1].only("Note")))
        try stores[1].insert("Note", ["title": "letter"])
        for store in stores + stores { try store.exchange(log, .mergeByPropertyObjectTrump) }
        let declarations = stores[0].coordinator.model.entities.map(\.description)
        let fourth = try Branch(folder.file("new.store"), declarations: declarations)
        try fourth.exchange(log)
        #expect(try fourth.count("Note") == 1)
        try requireEqual(stores + [fourth])
    }

    // store                     | log
    // inserts, makes #1         | appends it; the answer is lost
    // deletes                   |
    // makes again: an empty one | has #1
    // receives #1, sends #2     |
    @Test(arguments: [false, true]) func `a deletion after a change set without an answer is sent`(again: Bool) throws {
        let stores = try branches(2, Branch.declarations())
        let party = try stores[0].insert("Party", ["code": "x"])
        #expect(log.append(try #require(try stores[0].coordinator.changeSet())))
        try stores[0].delete(party)
        if again {
            let second = try #require(try stores[0].coordinator.changeSet())
            #expect(second.changes == [])
            #expect(!log.append(second))
        }
        try stores[0].exchange(log)
        try stores[1].exchange(log)
        #expect(log.changeSets.count == 2)
        #expect(try stores[1].count("Party") == 0)
        try requireEqual(stores)
    }

    @Test func `an empty change set in the place of one that the log has not got ends the exchange`() throws {
        let stores = try branches(2, Branch.declarations())
        let party = try stores[0].insert("Party", ["code": "x"])
        _ = try stores[0].coordinator.changeSet()
        try stores[0].delete(party)
        try stores[0].exchange(log)
        try stores[1].exchange(log)
        #expect(log.changeSets.map(\.changes) == [[]])
        try requireEqual(stores)
    }

    // Two copies of a file change the same attribute, and are migrated: two attributes swap their names. Their exchange
    // begins afterwards.
    @Test func `differences that are recorded after a migration have its names`() throws {
        let before = [EntityDescription("Note", attributes: [.init("a", .string), .init("b", .string)])]
        let after = [
            EntityDescription(
                "Note",
                attributes: [
                    .init("a", .string, renamingIdentifier: "b"), .init("b", .string, renamingIdentifier: "a"),
                ]
            )
        ]
        let urls = ["x", "y"].map { folder.file("\($0).store") }
        do {
            let store = try Branch(urls[0], declarations: before)
            try store.insert("Note", ["a": "a of both", "b": "b of both"])
            try store.store.backUp(to: urls[1])
            try store.coordinator.removeAllStores()
        }
        for url in urls {
            let store = try Branch(url, declarations: before)
            try store.set(#require(try store.only("Note")), "a", .text(url.lastPathComponent))
            try store.coordinator.removeAllStores()
        }
        let stores = try urls.map { try Branch($0, declarations: after) }
        for store in stores + stores + stores { try store.exchange(log) }
        #expect(try stores[0].only("Note")?["a"] == "b of both")
        try requireEqual(stores)
    }
}
