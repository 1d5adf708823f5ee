import Foundation
import ObjectGraph
import Testing

/// Refused dictionary fetches, and values at the limits of their types.
@Suite struct DictionaryRuleTests {
    private static let model = Fixtures.model(
        EntityDescription(
            "Thing",
            attributes: [
                .init("number", .int64, isOptional: true), .init("large", .uint64, isOptional: true),
                .init("amount", .decimal, isOptional: true), .init("text", .string, isOptional: true),
                .init("identity", .uuid, isOptional: true), .init("date", .date, isOptional: true),
            ]
        )
    )
    private static let number = model.path("Thing", "number")
    private static let large = model.path("Thing", "large")

    private static func context(_ kind: StoreKind, _ objects: [String: Value]...) throws -> ManagedObjectContext {
        let context = try TestStore(kind, model).context()
        for values in objects { context.make("Thing", values) }
        try context.save()
        return context
    }

    private static func request(_ expressions: QueryExpression...) -> DictionaryFetchRequest {
        DictionaryFetchRequest(
            model.entitiesByName["Thing"]!,
            expressions.enumerated().map { ExpressionDescription("\($0)", $1) }
        )
    }

    private static func row(_ context: ManagedObjectContext, _ request: DictionaryFetchRequest) throws -> [Value] {
        Array(try #require(try context.fetchDictionaries(request).first).values)
    }

    @Test(arguments: StoreKind.allCases)
    func `a sum that overflows is an error and never a wrong value`(kind: StoreKind) throws {
        let context = try Self.context(kind, ["number": .integer(.max)], ["number": 1])
        let request = Self.request(.aggregate(.sum, of: Self.number))
        #expect(throws: QueryError.arithmeticOverflow) { try context.fetchDictionaries(request) }
        let doubled = QueryExpression.arithmetic(.multiply, Self.number, .literal(2))
        #expect(throws: QueryError.arithmeticOverflow) { try context.fetchDictionaries(Self.request(doubled)) }
        #expect(throws: QueryError.arithmeticOverflow) {
            try context.fetchDictionaries(Self.request(.aggregate(.sum, of: doubled)))
        }
        #expect(
            try Self.row(context, Self.request(.aggregate(.maximum, of: Self.number))) == [.integer(.max)],
            "the context is usable afterwards"
        )
    }

    @Test(arguments: StoreKind.allCases)
    func `unsigned integers beyond the signed range are compared as unsigned, and not summed`(kind: StoreKind) throws {
        let context = try Self.context(kind, ["large": UInt64.max.storedValue], ["large": 5], ["large": .null])
        #expect(
            try Self.row(
                context,
                Self.request(.aggregate(.minimum, of: Self.large), .aggregate(.maximum, of: Self.large))
            ) == [5, UInt64.max.storedValue]
        )
        #expect(throws: QueryError.arithmeticOverflow) {
            try context.fetchDictionaries(Self.request(.aggregate(.sum, of: Self.large)))
        }
        #expect(try Self.row(context, Self.request(.aggregate(.average, of: Self.large))) == [.real(0x1p63)])
        let small = try Self.context(kind, ["large": 5], ["large": 6])
        #expect(
            try Self.row(
                small,
                Self.request(.aggregate(.sum, of: Self.large), .aggregate(.average, of: Self.large))
            ) == [11, 5.5]
        )
    }

    @Test(arguments: StoreKind.allCases)
    func `values keep their types`(kind: StoreKind) throws {
        let uuid = UUID()
        let context = try Self.context(
            kind,
            ["identity": .uuid(uuid), "date": 4.5, "amount": Decimal(1).storedValue],
            ["date": 5.5, "amount": Decimal(string: "12.5")!.storedValue]
        )
        let path = { (name: String) in Self.model.path("Thing", name) }
        #expect(
            try Self.row(
                context,
                Self.request(
                    .aggregate(.maximum, of: path("identity")),
                    .aggregate(.average, of: path("date")),
                    .aggregate(.maximum, of: path("amount"))
                )
            ) == [.uuid(uuid), 5.0, Decimal(string: "12.5")!.storedValue]
        )
    }

    @Test(arguments: StoreKind.allCases)
    func `values that are not numbers are not summed`(kind: StoreKind) throws {
        let context = try Self.context(kind, ["text": "5", "amount": Decimal(5).storedValue])
        for name in ["text", "identity"] {
            let path = Self.model.path("Thing", name)
            #expect(throws: QueryError.notSummable(.sum), "\(name)") {
                try context.fetchDictionaries(Self.request(.aggregate(.sum, of: path)))
            }
            #expect(throws: QueryError.notSummable(.average), "\(name)") {
                try context.fetchDictionaries(Self.request(.aggregate(.average, of: path)))
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a value that differs within a group is refused`(kind: StoreKind) throws {
        let context = try Self.context(kind)
        #expect(throws: QueryError.notGrouped("number")) {
            try context.fetchDictionaries(Self.request(.objectCount, Self.number))
        }
        var request = Self.request(.objectCount)
        request.propertiesToGroupBy = [Self.number]
        request.sort = [QuerySort(Self.large)]
        #expect(throws: QueryError.notGrouped("large")) { try context.fetchDictionaries(request) }
        request.sort = []
        request.havingPredicate = Self.large > 0
        #expect(throws: QueryError.notGrouped("large")) { try context.fetchDictionaries(request) }
        request.havingPredicate = .arithmetic(.add, Self.number, .literal(1)) > 0
        #expect(try context.fetchDictionaries(request).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `aggregates are refused outside of columns and group conditions`(kind: StoreKind) throws {
        let context = try Self.context(kind, ["number": 1])
        let count = QueryExpression.objectCount
        var request = Self.request(count)
        request.predicate = count > 0
        #expect(throws: QueryError.misplacedAggregate) { try context.fetchDictionaries(request) }
        request.predicate = nil
        request.propertiesToGroupBy = [count]
        #expect(throws: QueryError.misplacedAggregate) { try context.fetchDictionaries(request) }
        #expect(throws: QueryError.misplacedAggregate) {
            try context.fetchDictionaries(Self.request(.aggregate(.sum, of: count)))
        }
        #expect(throws: (any Error).self) { try context.all("Thing", where: count > 0) }
        request = Self.request(Self.number)
        request.havingPredicate = .bool(true)
        #expect(throws: QueryError.havingWithoutGroups) { try context.fetchDictionaries(request) }
    }

    @Test(arguments: StoreKind.allCases)
    func `two columns with one name are refused`(kind: StoreKind) throws {
        let context = try Self.context(kind)
        let request = DictionaryFetchRequest(
            Self.model.entitiesByName["Thing"]!,
            [.init("x", Self.number), .init("x", Self.large)]
        )
        #expect(throws: QueryError.duplicateColumn("x")) { try context.fetchDictionaries(request) }
    }
}
