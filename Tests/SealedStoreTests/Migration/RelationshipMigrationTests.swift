import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Relationships that change their cardinality, inverse, order or destination.
@Suite struct RelationshipMigrationTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private static func model(
        _ shelf: [RelationshipDescription],
        _ book: [RelationshipDescription] = [],
        extra: [EntityDescription] = []
    ) -> [EntityDescription] {
        [
            EntityDescription("Shelf", attributes: [.init("name", .string)], relationships: shelf),
            EntityDescription("Book", attributes: [.init("name", .string)], relationships: book),
        ] + extra
    }

    /// Makes shelves and books; the members of a shelf's relationship are given by the books' positions.
    private func write(_ model: [EntityDescription], _ relationship: String, _ members: [[Int]], books: Int = 5) throws
    {
        let store = try MigratingStore(url, model)
        let books = (0..<books).map { store.insert("Book", ["name": .text("book \($0)")]) }
        try store.context.save()
        for (number, positions) in members.enumerated() {
            let shelf = store.insert("Shelf", ["name": .text("shelf \(number)")])
            try store.context.save()
            if store.entity("Shelf").relationship(named: relationship)?.isToMany ?? false {
                shelf.setMembers(positions.map { books[$0] }, forRelationship: relationship)
            } else {
                shelf.setDestination(positions.first.map { books[$0] }, forRelationship: relationship)
            }
        }
        try store.saveAndClose()
    }

    private func members(_ store: MigratingStore, _ entity: String, _ relationship: String) throws -> [[Int64]] {
        try store.objects(entity).map { object in
            store.entity(entity).relationship(named: relationship)?.isToMany ?? false
                ? object.members(forRelationship: relationship).compactMap {
                    ($0 as? ManagedObject)?.managedObjectID.key
                }
                : [object.destination(forRelationship: relationship)].compactMap {
                    ($0 as? ManagedObject)?.managedObjectID.key
                }
        }
    }

    private static let oneWay = [RelationshipDescription("books", to: "Book", .many)]
    private static let manyToMany = (
        [RelationshipDescription("books", to: "Book", .many, inverse: "shelves")],
        [RelationshipDescription("shelves", to: "Shelf", .many, inverse: "books")]
    )
    private static let oneToMany = (
        [RelationshipDescription("books", to: "Book", .many, inverse: "shelf")],
        [RelationshipDescription("shelf", to: "Shelf", .one, inverse: "books")]
    )

    @Test func `a one-way relationship gets an inverse`() throws {
        try write(Self.model(Self.oneWay), "books", [[0, 1], [1, 2], []])
        let store = try MigratingStore(url, Self.model(Self.manyToMany.0, Self.manyToMany.1))
        #expect(try members(store, "Shelf", "books").map { $0.sorted() } == [[1, 2], [2, 3], []])
        #expect(try members(store, "Book", "shelves").map { $0.sorted() } == [[1], [1, 2], [2], [], []])
        #expect(try store.problems() == [])
    }

    @Test func `a relationship becomes one-to-many and back, if no object would have two owners`() throws {
        try write(Self.model(Self.manyToMany.0, Self.manyToMany.1), "books", [[0, 1], [2], []])
        let toMany = try MigratingStore(
            url,
            Self.model(
                Self.oneToMany.0,
                [RelationshipDescription("shelf", to: "Shelf", .one, inverse: "books", renamingIdentifier: "shelves")]
            )
        )
        #expect(try members(toMany, "Shelf", "books").map { $0.sorted() } == [[1, 2], [3], []])
        #expect(try members(toMany, "Book", "shelf") == [[1], [1], [2], [], []])
        #expect(try toMany.problems() == [])
        try toMany.close()
        let back = try MigratingStore(url, Self.model(Self.manyToMany.0, Self.manyToMany.1))
        #expect(try members(back, "Shelf", "books").map { $0.sorted() } == [[1, 2], [3], []])
        #expect(try members(back, "Book", "shelves") == [[1], [1], [2], [], []])
        #expect(try back.problems() == [])
    }

    @Test func `several members where one is allowed are counted`() throws {
        try write(Self.model(Self.oneWay), "books", [[0, 1], [1, 2], [3]])
        let before = try folder.contents()
        let toOne = Self.model([RelationshipDescription("books", to: "Book", .one)])
        #expect(
            try MigratingStore.refusal { _ = try MigratingStore(url, toOne) }
                == [MigrationProblem(entity: "Shelf", property: "books", kind: .severalMembers, rows: 2)]
        )
        #expect(
            try MigratingStore.refusal { _ = try MigratingStore(url, Self.model(Self.oneToMany.0, Self.oneToMany.1)) }
                == [MigrationProblem(entity: "Book", property: "shelf", kind: .severalMembers, rows: 1)]
        )
        #expect(try folder.contents() == before)
    }

    @Test func `a to-one relationship becomes to-many and back`() throws {
        let toOne = Self.model([RelationshipDescription("books", to: "Book", .one)])
        try write(toOne, "books", [[0], [1], [], [1]])
        let toMany = try MigratingStore(url, Self.model(Self.oneWay))
        #expect(try members(toMany, "Shelf", "books") == [[1], [2], [], [2]])
        #expect(try toMany.problems() == [])
        try toMany.close()
        let back = try MigratingStore(url, toOne)
        #expect(try members(back, "Shelf", "books") == [[1], [2], [], [2]])
        #expect(try back.problems() == [])
    }

    @Test(arguments: [false, true])
    func `the order of members is kept, dropped and begins with that of the keys`(withInverse: Bool) throws {
        let inverse = withInverse ? "shelf" : nil
        let book = withInverse ? Self.oneToMany.1 : []
        let ordered = Self.model([.init("books", to: "Book", .many, inverse: inverse, isOrdered: true)], book)
        try write(ordered, "books", [[3, 0, 2], [4, 1]])
        let renamed = Self.model(
            [.init("volumes", to: "Book", .many, inverse: inverse, isOrdered: true, renamingIdentifier: "books")],
            withInverse ? [.init("shelf", to: "Shelf", .one, inverse: "volumes")] : []
        )
        let kept = try MigratingStore(url, renamed)
        #expect(try members(kept, "Shelf", "volumes") == [[4, 1, 3], [5, 2]])
        #expect(try kept.problems() == [])
        try kept.close()
        let without = try MigratingStore(
            url,
            Self.model(
                [.init("books", to: "Book", .many, inverse: inverse, renamingIdentifier: "volumes")],
                book
            )
        )
        #expect(try members(without, "Shelf", "books").map { $0.sorted() } == [[1, 3, 4], [2, 5]])
        #expect(try without.problems() == [])
        try without.close()
        let again = try MigratingStore(url, ordered)
        #expect(try members(again, "Shelf", "books") == [[1, 3, 4], [2, 5]])
        let shelf = try #require(try again.objects("Shelf").first)
        shelf.setMembers(Array(shelf.members(forRelationship: "books").reversed()), forRelationship: "books")
        try again.context.save()
        #expect(try again.problems() == [])
        try again.close()
    }

    @Test func `one-to-one relationships come from one-way ones`() throws {
        try write(Self.model([.init("best", to: "Book", .one)]), "best", [[3], [], [1]])
        let store = try MigratingStore(
            url,
            Self.model(
                [.init("best", to: "Book", .one, inverse: "shelf")],
                [.init("shelf", to: "Shelf", .one, inverse: "best")]
            )
        )
        #expect(try members(store, "Shelf", "best") == [[4], [], [2]])
        #expect(try members(store, "Book", "shelf") == [[], [3], [], [1], []])
        #expect(try store.problems() == [])
    }

    @Test func `a one-way relationship to its own entity becomes symmetric`() throws {
        let person = { (inverse: String?) in
            [EntityDescription("Shelf", relationships: [.init("friends", to: "Shelf", .many, inverse: inverse)])]
        }
        let first = try MigratingStore(url, person(nil))
        let people = (0..<4).map { _ in first.insert("Shelf") }
        try first.context.save()
        people[0].setMembers([people[1], people[2]], forRelationship: "friends")
        people[1].setMembers([people[0]], forRelationship: "friends")
        try first.saveAndClose()
        let store = try MigratingStore(url, person("friends"))
        #expect(try members(store, "Shelf", "friends").map { $0.sorted() } == [[2, 3], [1], [1], []])
        #expect(try store.problems() == [])
    }

    @Test func `a plan drops members of a removed entity, and missing required destinations are counted`() throws {
        let first = Self.model(
            [.init("best", to: "Book", .one), .init("books", to: "Book", .many)],
            extra: [EntityDescription("Atlas", superentity: "Book")]
        )
        let store = try MigratingStore(url, first)
        let (book, atlas) = (store.insert("Book", ["name": .text("b")]), store.insert("Atlas", ["name": .text("a")]))
        let shelves = [book, atlas].map { best in
            let shelf = store.insert("Shelf", ["name": .text("s")])
            shelf.setDestination(best, forRelationship: "best")
            shelf.setMembers([book, atlas], forRelationship: "books")
            return shelf
        }
        #expect(shelves.count == 2)
        try store.saveAndClose()
        let required = Self.model([
            .init("best", to: "Book", .one, isOptional: false), .init("books", to: "Book", .many),
        ])
        #expect(
            try MigratingStore.refusal {
                _ = try MigratingStore(url, required, options: MigratingStore.plan(first, required))
            } == [MigrationProblem(entity: "Shelf", property: "best", kind: .missingValue, rows: 1)]
        )
        let optional = Self.model([.init("best", to: "Book", .one), .init("books", to: "Book", .many)])
        let next = try MigratingStore(url, optional, options: MigratingStore.plan(first, optional))
        #expect(try members(next, "Shelf", "best").map(\.count).sorted() == [0, 1])
        #expect(try members(next, "Shelf", "books").map(\.count) == [1, 1])
        #expect(try next.problems() == [])
    }

    @Test func `members that are not of a new destination are counted`() throws {
        let atlas = EntityDescription("Atlas", superentity: "Book")
        let store = try MigratingStore(url, Self.model(Self.oneWay, extra: [atlas]))
        let shelf = store.insert("Shelf", ["name": .text("s")])
        let members = [store.insert("Book", ["name": .text("b")]), store.insert("Atlas", ["name": .text("a")])]
        shelf.setMembers(members.map { $0 }, forRelationship: "books")
        try store.saveAndClose()
        let narrow = Self.model([.init("books", to: "Atlas", .many)], extra: [atlas])
        #expect(
            try MigratingStore.refusal { _ = try MigratingStore(url, narrow) }
                == [
                    MigrationProblem(
                        entity: "Shelf",
                        property: "books",
                        kind: .foreignMembers(destination: "Atlas"),
                        rows: 1
                    )
                ]
        )
    }

    @Test func `relationships that share an inverse keep their members`() throws {
        let model = { (isShared: Bool, type: AttributeType) in
            [
                EntityDescription(
                    "Yard",
                    attributes: [.init("number", type)],
                    relationships: [
                        .init("leading", to: "Plant", .many, sharedInverse: isShared ? "yard" : nil),
                        .init("trailing", to: "Plant", .many, sharedInverse: isShared ? "yard" : nil, isOrdered: true),
                    ]
                ),
                EntityDescription(
                    "Plant",
                    attributes: [.init("number", type)],
                    relationships: [.init("yard", to: "Yard", .one)]
                ),
            ]
        }
        let first = try MigratingStore(url, model(true, .int64))
        let yard = first.insert("Yard", ["number": .integer(0)])
        let plants = (0..<4).map { first.insert("Plant", ["number": .integer(Int64($0))]) }
        yard.setMembers([plants[0], plants[1]], forRelationship: "leading")
        yard.setMembers([plants[3], plants[2]], forRelationship: "trailing")
        try first.saveAndClose()
        // The tables are rebuilt, the inverse is no longer shared, and shared again.
        for (isShared, type) in [(true, AttributeType.string), (false, .string), (true, .int64)] {
            let store = try MigratingStore(url, model(isShared, type))
            let yard = try store.objects("Yard")[0]
            let keys = { (name: String) in
                yard.members(forRelationship: name).compactMap { ($0 as? ManagedObject)?.managedObjectID.key }
            }
            #expect(keys("leading").sorted() == [1, 2])
            #expect(keys("trailing") == [4, 3])
            #expect(try store.objects("Plant").allSatisfy { $0.destination(forRelationship: "yard") === yard })
            #expect(try store.problems() == [])
            try store.close()
        }
    }

    @Test func `many pairs are copied in parts, with progress`() throws {
        let model = { (isOrdered: Bool) in
            [
                EntityDescription(
                    "Book",
                    attributes: [.init("n", .int64)],
                    relationships: [.init("tags", to: "Tag", .many, inverse: "books", isOrdered: isOrdered)]
                ),
                EntityDescription(
                    "Tag",
                    attributes: [.init("n", .int64)],
                    relationships: [.init("books", to: "Book", .many, inverse: "tags")]
                ),
            ]
        }
        let first = try MigratingStore(url, model(true))
        let tags = (0..<160).map { first.insert("Tag", ["n": .integer(Int64($0))]) }
        for number in 0..<160 {
            first.insert("Book", ["n": .integer(Int64(number))]).setMembers(tags, forRelationship: "tags")
        }
        try first.saveAndClose()
        let progress = Progress(totalUnitCount: 1)
        let store = try MigratingStore(
            url,
            model(false),
            options: [SealedStore.migrationProgressOption: progress]
        )
        #expect(try store.objects("Book").allSatisfy { $0.members(forRelationship: "tags").count == 160 })
        #expect(progress.fractionCompleted == 1)
        #expect(try store.problems() == [])
    }
}
