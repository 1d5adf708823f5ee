import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Rules for objects with the same values in properties that become unique.
@Suite struct DuplicateRuleTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private static func model(isUnique: Bool, type: AttributeType = .string) -> [EntityDescription] {
        [
            EntityDescription(
                "Tag",
                attributes: [.init("name", type, isOptional: true), .init("rank", .int64)],
                relationships: [
                    .init("notes", to: "Note", .many, inverse: "tags", isOrdered: true),
                    .init("details", to: "Detail", .many, inverse: "tag", deleteRule: .cascade),
                    .init("twin", to: "Tag", .one),
                ],
                uniquenessConstraints: isUnique ? [["name"]] : []
            ),
            EntityDescription(
                "Note",
                attributes: [.init("title", .string)],
                relationships: [
                    .init("tags", to: "Tag", .many, inverse: "notes"), .init("favourite", to: "Tag", .one),
                    .init("others", to: "Tag", .many),
                ]
            ),
            EntityDescription(
                "Detail",
                attributes: [.init("text", .string)],
                relationships: [.init("tag", to: "Tag", .one, inverse: "details", isOptional: false)]
            ),
        ]
    }

    /// Three tags "a" and one "b": each "a" with a note, a detail, and the first one as twin of the others.
    private func write() throws {
        let store = try MigratingStore(url, Self.model(isUnique: false))
        var first: ManagedObject?
        for (name, rank) in [("a", 2), ("a", 3), ("b", 9), ("a", 1)] {
            let tag = store.insert("Tag", ["name": .text(name), "rank": .integer(Int64(rank))])
            tag.setDestination(first, forRelationship: "twin")
            first = first ?? tag
            let note = store.insert("Note", ["title": .text("\(name)\(rank)")])
            note.addMember(tag, forRelationship: "tags")
            note.addMember(tag, forRelationship: "others")
            note.setDestination(tag, forRelationship: "favourite")
            let detail = store.insert("Detail", ["text": .text("\(name)\(rank)")])
            detail.setDestination(tag, forRelationship: "tag")
            try store.context.save()
        }
        store.insert("Tag", ["rank": .integer(0)])
        store.insert("Tag", ["rank": .integer(0)])
        try store.saveAndClose()
    }

    private func migrate(_ rule: DuplicateRule, _ model: [EntityDescription]? = nil) throws -> MigratingStore {
        try MigratingStore(
            url,
            model ?? Self.model(isUnique: true),
            options: [SealedStore.duplicateRulesOption: [rule]]
        )
    }

    private static func ranks(_ store: MigratingStore) throws -> [Int] {
        try store.values("Tag", "rank").map { if case .integer(let rank) = $0 { Int(rank) } else { -1 } }
    }

    private static func titles(_ objects: [any GraphObject], _ name: String) -> [String] {
        objects.compactMap { $0 as? ManagedObject }.map { object in
            if case .text(let text) = object[name] { text } else { "" }
        }
    }

    @Test func `the first object in an order is kept, with the relationships of the others`() throws {
        try write()
        let store = try migrate(DuplicateRule(entity: "Tag", sort: [.init("rank")]))
        #expect(try Self.ranks(store) == [9, 1, 0, 0])
        let kept = try store.objects("Tag")[1]
        #expect(Self.titles(kept.members(forRelationship: "notes"), "title") == ["a1", "a2", "a3"])
        #expect(Self.titles(kept.members(forRelationship: "details"), "text").sorted() == ["a1", "a2", "a3"])
        for note in try store.objects("Note") where note["title"] != .text("b9") {
            #expect(note.destination(forRelationship: "favourite") === kept)
            #expect(note.members(forRelationship: "others").map { $0 === kept } == [true])
            #expect(note.members(forRelationship: "tags").map { $0 === kept } == [true])
        }
        #expect(kept.destination(forRelationship: "twin") == nil)
        #expect(try store.problems() == [])
    }

    @Test func `without sort keys the object that was inserted first is kept, or the last one`() throws {
        try write()
        let copy = folder.file("b.store")
        try FileManager.default.copyItem(at: url, to: copy)
        #expect(try Self.ranks(migrate(DuplicateRule(entity: "Tag"))) == [2, 9, 0, 0])
        let last = try MigratingStore(
            copy,
            Self.model(isUnique: true),
            options: [SealedStore.duplicateRulesOption: [DuplicateRule(entity: "Tag", keepsLastInserted: true)]]
        )
        #expect(try Self.ranks(last) == [9, 1, 0, 0])
    }

    @Test func `the delete rules apply if relationships are not moved`() throws {
        try write()
        let store = try migrate(DuplicateRule(entity: "Tag", relationships: .applyDeleteRules))
        #expect(try Self.ranks(store) == [2, 9, 0, 0])
        #expect(try store.values("Detail", "text") == [.text("a2"), .text("b9")])
        #expect(try store.objects("Tag")[0].members(forRelationship: "notes").count == 1)
        #expect(try store.objects("Note").count { $0.destination(forRelationship: "favourite") == nil } == 2)
        #expect(try store.problems() == [])
    }

    @Test func `values that are equal only after their conversion are merged`() throws {
        let before = [EntityDescription("Tag", attributes: [.init("name", .data), .init("rank", .int64)])]
        let first = try MigratingStore(url, before)
        for (name, rank) in [("é", 1), ("e\u{301}", 2), ("x", 3)] {
            first.insert("Tag", ["name": .blob(Data(name.utf8)), "rank": .integer(Int64(rank))])
        }
        try first.saveAndClose()
        let after = [
            EntityDescription(
                "Tag",
                attributes: [.init("name", .string), .init("rank", .int64)],
                uniquenessConstraints: [["name"]]
            )
        ]
        let store = try migrate(DuplicateRule(entity: "Tag", sort: [.init("rank", ascending: false)]), after)
        #expect(try Self.ranks(store) == [2, 3])
        #expect(try store.problems() == [])
    }

    @Test func `a preview has the merge as a step, and duplicates without a rule as a problem`() throws {
        try write()
        let preview = { (options: [String: any Sendable]) in
            try SealedStore.migrationPreview(
                of: MigratingStore.description(url, options: options),
                to: ManagedObjectModel(entities: Self.model(isUnique: true))
            )
        }
        let without = try preview([:])
        #expect(without.problems.map(\.rows) == [2])
        let rules = [DuplicateRule(entity: "Tag")]
        let with = try preview([SealedStore.duplicateRulesOption: rules])
        #expect(with.problems == [])
        #expect(
            with.steps.map(\.description) == [
                "merge duplicates Tag.name (2 row(s))", "build index Tag.name", "record model",
            ]
        )
        let unknown = try preview([SealedStore.duplicateRulesOption: [DuplicateRule(entity: "Tag", sort: [.init("x")])]]
        )
        #expect(unknown.problems == without.problems)
    }

    @Test func `a deletion that a delete rule denies leaves the old store`() throws {
        var denying = Self.model(isUnique: true)
        denying[0].relationships[1].deleteRule = .deny
        try write()
        #expect(throws: (any Error).self) {
            try migrate(DuplicateRule(entity: "Tag", relationships: .applyDeleteRules), denying)
        }
        let store = try MigratingStore(url, Self.model(isUnique: false), allowsMigration: false)
        #expect(try Self.ranks(store) == [2, 3, 9, 1, 0, 0])
        #expect(try store.problems() == [])
    }

    // The group has more objects than are deleted in one save. Some refer to objects that a later save deletes.
    @Test func `a large group is merged in several saves`() throws {
        let first = try MigratingStore(url, Self.model(isUnique: false))
        var tags: [ManagedObject] = []
        for number in 0..<600 {
            let tag = first.insert("Tag", ["name": .text("e\u{301}"), "rank": .integer(Int64(number))])
            if number % 150 == 0 {
                let note = first.insert("Note", ["title": .text("\(number)")])
                note.addMember(tag, forRelationship: "tags")
                note.setDestination(tag, forRelationship: "favourite")
            }
            tags.append(tag)
        }
        let other = first.insert("Tag", ["name": .text("other"), "rank": .integer(-1)])
        tags[1].setDestination(tags[550], forRelationship: "twin")
        tags[580].setDestination(other, forRelationship: "twin")
        try first.saveAndClose()
        let store = try migrate(DuplicateRule(entity: "Tag"))
        #expect(try Self.ranks(store) == [0, -1])
        let kept = try store.objects("Tag")[0]
        #expect(Self.titles(kept.members(forRelationship: "notes"), "title") == ["0", "150", "300", "450"])
        #expect(try store.objects("Note").allSatisfy { $0.destination(forRelationship: "favourite") === kept })
        #expect((kept.destination(forRelationship: "twin") as? ManagedObject)?["rank"] == .integer(-1))
        #expect(try store.problems() == [])
    }

    @Test func `many groups are merged in several saves`() throws {
        let first = try MigratingStore(url, Self.model(isUnique: false))
        for number in 0..<1500 {
            first.insert("Tag", ["name": .text("\(number % 600)"), "rank": .integer(Int64(number))])
        }
        try first.saveAndClose()
        let progress = Progress(totalUnitCount: 1)
        let store = try MigratingStore(
            url,
            Self.model(isUnique: true),
            options: [
                SealedStore.duplicateRulesOption: [DuplicateRule(entity: "Tag")],
                SealedStore.migrationProgressOption: progress,
            ]
        )
        #expect(try Self.ranks(store) == Array(0..<600))
        #expect(progress.fractionCompleted == 1)
        #expect(try store.problems() == [])
    }
}
