import Foundation
@testable import SealedData
import Testing

/// Key paths are read from sample objects, for which some types have no values.
@Suite("Classes without sample values")
struct MissingSampleTests {
    /// Decodes no value that can be generated.
    enum Price: Codable {
        case fixed(String), unknown([Int])

        init(from decoder: any Decoder) throws {
            let texts = try decoder.singleValueContainer().decode([String].self)
            guard texts.first == "fixed", texts.count == 2 else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no price"))
            }
            self = .fixed(texts[1])
        }

        func encode(to encoder: any Encoder) throws {
            guard case .fixed(let amount) = self else { return }
            var container = encoder.singleValueContainer()
            try container.encode(["fixed", amount])
        }
    }

    struct Address: Codable, Equatable {
        var city = ""
        var code = 0
    }

    @Model final class Offer {
        let price: Price
        var address = Address()
        var orders: [Order] = []

        init(_ price: Price) { self.price = price }
    }

    @Model final class Order {
        var address: Address
        var offer: Offer?
        var draft: Offer

        init(_ city: String, _ draft: Offer) {
            address = Address(city: city)
            self.draft = draft
        }
    }

    final class Colour {
        let hex: String
        init(_ hex: String) { self.hex = hex }
    }

    final class ColourTransformer: ValueTransformer {
        override func transformedValue(_ value: Any?) -> Any? { (value as? Colour).map { Data($0.hex.utf8) } }
        override func reverseTransformedValue(_ value: Any?) -> Any? {
            (value as? Data).map { Colour(String(decoding: $0, as: UTF8.self)) }
        }
    }

    protocol Titled { var title: String { get } }

    @Model final class Paint: Titled {
        var name: String
        @Attribute(.transformable(by: ColourTransformer.self)) var colour: Colour
        var title: String { name + colour.hex }

        init(_ name: String, _ colour: Colour) { (self.name, self.colour) = (name, colour) }
    }

    private func context(_ types: any PersistentModel.Type...) throws -> ModelContext {
        ModelContext(
            try ModelContainer(
                for: Schema(types),
                configurations: ModelConfiguration(isStoredInMemoryOnly: true)
            )
        )
    }

    @Test func `a structure beside a constant without a sample is no sort key`() throws {
        let context = try context(Offer.self, Order.self)
        context.insert(Offer(.fixed("1")))
        try context.save()
        let descriptor = FetchDescriptor<Offer>(sortBy: [SortDescriptor(\.address.city)])
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) { try context.fetch(descriptor) }
    }

    @Test func `a class with relationships to a class without samples is sorted`() throws {
        let context = try context(Offer.self, Order.self)
        let offer = Offer(.fixed("1"))
        for city in ["b", "a"] { context.insert(Order(city, offer)) }
        try context.save()
        let descriptor = FetchDescriptor<Order>(sortBy: [SortDescriptor(\.address.city)])
        #expect(try context.fetch(descriptor).map(\.address.city) == ["a", "b"])
        let indirect = FetchDescriptor<Order>(sortBy: [SortDescriptor(\.draft.address.city)])
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) { try context.fetch(indirect) }
    }

    @Test func `a requirement is not read from an object without a transformed value`() throws {
        func find<Item: PersistentModel & Titled>(_ type: Item.Type, in context: ModelContext) throws -> [Item] {
            let title = "sea"
            return try context.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.title == title }))
        }
        let context = try context(Paint.self)
        context.insert(Paint("sea", Colour("00f")))
        #expect(throws: SwiftDataError.unsupportedPredicate) { try find(Paint.self, in: context) }
    }
}
