import ObjectGraph
import Testing

@Suite("Objects in predicate formats") struct FormatObjectTests {
    private static let book = Fixtures.library.entitiesByName["Book"]!
    private static let author = Fixtures.library.path("Book", "author")

    private static func condition(_ format: String, _ arguments: Any?...) throws -> QueryExpression {
        try QueryExpression(format: format, arguments: arguments, entity: book)
    }

    @Test(arguments: StoreKind.allCases)
    func `an object and its identifier are compared by the primary key`(kind: StoreKind) throws {
        let context = try TestStore(kind).context()
        let author = context.make("Author")
        for isSaved in [false, true] {
            if isSaved { try context.save() }
            let key = Value.integer(author.managedObjectID.key)
            #expect(try Self.condition("author == %@", author) == (Self.author == key))
            #expect(try Self.condition("author == %@", author.managedObjectID) == (Self.author == key))
            #expect(try Self.condition("author IN %@", [author]) == .isMember(Self.author, of: [key]))
        }
    }

    @Test func `an object in no context is compared by the key that it has when it is inserted`() throws {
        let author = ManagedObject.make(Fixtures.library, "Author")
        let condition = try Self.condition("author == %@", author)
        #expect(condition == (Self.author == .integer(author.managedObjectID.key)))
    }

    @Test func `an object of another entity is refused`() throws {
        let author = ManagedObject.make(Fixtures.library, "Author")
        #expect(throws: PredicateFormatError.self) { try Self.condition("SELF == %@", author) }
    }
}
