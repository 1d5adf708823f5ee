import Foundation
import ObjectGraph
import Testing

@Suite("Validation rules of attributes") struct ValidationTests {
    private static let model = Fixtures.model(
        EntityDescription(
            "Product",
            attributes: [
                .init("name", .string, validation: .init(minimumLength: 2, maximumLength: 5)),
                .init("price", .double, isOptional: true, validation: .init(minimum: 0.5, maximum: 10.0)),
                .init("stock", .int64, isOptional: true, validation: .init(minimum: 0)),
                .init("image", .data, isOptional: true, validation: .init(maximumLength: 3)),
                .init("due", .date, isOptional: true, validation: .init(maximum: 100.0)),
            ]
        )
    )

    private static func problems(_ kind: StoreKind, _ values: [String: Value]) throws -> [String] {
        let context = try TestStore(kind, model).context()
        context.make("Product", values)
        do {
            try context.save()
            return []
        } catch ObjectGraphError.validation(let problems) {
            return problems.map { "\($0.property): \($0.reason)" }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `values at the bounds and missing optional values are saved`(kind: StoreKind) throws {
        let smallest = ["name": "ab", "price": 0.5, "stock": 0, "image": Value.blob(Data())]
        #expect(try Self.problems(kind, smallest).isEmpty)
        let largest = ["name": "かきくけこ", "price": 10.0, "image": .blob(Data([1, 2, 3])), "due": Value.real(100)]
        #expect(try Self.problems(kind, largest).isEmpty)
        #expect(try Self.problems(kind, ["name": "abc"]).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `all values out of bounds are reported at once`(kind: StoreKind) throws {
        let low = ["name": "a", "price": 0.4, "stock": -1] as [String: Value]
        #expect(
            try Self.problems(kind, low) == [
                "name: its value is shorter than its minimum length", "price: its value is below its minimum",
                "stock: its value is below its minimum",
            ]
        )
        let high = ["name": "abcdef", "price": 11.0, "image": .blob(Data(count: 4)), "due": 101.0] as [String: Value]
        #expect(
            try Self.problems(kind, high) == [
                "name: its value is longer than its maximum length", "price: its value is above its maximum",
                "image: its value is longer than its maximum length", "due: its value is above its maximum",
            ]
        )
    }

    @Test(arguments: StoreKind.allCases)
    func `an updated object is validated like an inserted one`(kind: StoreKind) throws {
        let context = try TestStore(kind, Self.model).context()
        let product = context.make("Product", ["name": "abc"])
        try context.save()
        product["stock"] = -5
        #expect(throws: ObjectGraphError.self) { try context.save() }
        product["stock"] = 5
        try context.save()
    }

    @Test func `a model with contradictory rules is refused`() {
        let attributes: [AttributeDescription] = [
            .init("a", .int64, validation: .init(minimum: 2, maximum: 1)),
            .init("b", .int64, validation: .init(minimum: "x")),
            .init("c", .date, validation: .init(minimumLength: 1)),
            .init("d", .string, validation: .init(minimumLength: 3, maximumLength: 2)),
            .init("e", .string, validation: .init(maximumLength: -1)),
        ]
        let error = #expect(throws: ModelError.self) {
            try ManagedObjectModel(entities: [EntityDescription("X", attributes: attributes)])
        }
        #expect(error?.problems.compactMap(\.property) == ["a", "b", "c", "d", "e"])
    }
}
