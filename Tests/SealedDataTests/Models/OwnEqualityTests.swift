import Foundation
import SealedData
import Testing

@Model private final class Coin {
    var value: Int
    init(_ value: Int) { self.value = value }

    static func == (left: Coin, right: Coin) -> Bool { left.value == right.value }
    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

@Model private final class Case {
    var name = ""
    init() {}
}

@Model private class Shape {
    var corners = 0
    init() {}
    static func == (left: Shape, right: Shape) -> Bool { left.corners == right.corners }
}

@Model private final class Square: Shape {
    var side = 1
    override init() { super.init() }
}

@Model private final class Stamp {
    var text: String
    init(_ text: String) { self.text = text }
}

extension Stamp: Equatable {
    static func == (left: Stamp, right: Stamp) -> Bool { left.text == right.text }
}

/// The classes name themselves in other ways.
private enum Album {
    @Model final class Card {
        var value: Int
        init(_ value: Int) { self.value = value }
        static func == (left: Album.Card, right: Album.Card) -> Bool { left.value == right.value }
    }

    @Model final class Page {
        var value: Int
        init(_ value: Int) { self.value = value }
        static func == (left: Page, right: borrowing Page) -> Bool { left.value == right.value }
    }

    @Model class Sheet<Content: Codable> {
        var value: Int
        init(_ value: Int) { self.value = value }
        static func == (left: Sheet<Content>, right: Album.Sheet<Content>) -> Bool { left.value == right.value }
    }
}

@Suite("Equality of models") struct OwnEqualityTests {
    private func areEqual<Model: PersistentModel>(_ left: Model, _ right: Model) -> Bool { left == right }

    @Test func `a class's own equality is that of collections and generic code`() {
        #expect(Coin(1) == Coin(1))
        #expect(Coin(1) != Coin(2))
        #expect(areEqual(Coin(1), Coin(1)))
        #expect([Coin(1), Coin(2)] == [Coin(1), Coin(2)])
        #expect([Coin(1), Coin(2)].firstIndex(of: Coin(2)) == 1)
        #expect(Set([Coin(1), Coin(1)]).count == 1)
        #expect(Optional(Coin(1)) == Coin(1))
    }

    @Test func `the parameters of a class's own equality may name the class in any way`() {
        #expect(areEqual(Album.Card(1), Album.Card(1)))
        #expect(!areEqual(Album.Card(1), Album.Card(2)))
        #expect(areEqual(Album.Page(1), Album.Page(1)))
        #expect(!areEqual(Album.Page(1), Album.Page(2)))
        #expect(areEqual(Album.Sheet<String>(1), Album.Sheet<String>(1)))
        #expect(!areEqual(Album.Sheet<String>(1), Album.Sheet<String>(2)))
        #expect([Album.Card(1)] == [Album.Card(1)])
    }

    @Test func `objects of a subclass are compared by the superclass's own equality`() {
        #expect(areEqual(Square(), Square()))
        #expect(Square() == Shape())
        let shapes: [Shape] = [Square()]
        #expect(shapes == [Shape()])
    }

    @Test func `an equality in an extension that names Equatable is used`() {
        #expect(areEqual(Stamp("a"), Stamp("a")))
        #expect([Stamp("a")] == [Stamp("a")])
    }

    @Test func `other models are equal if they are the same object`() {
        let first = Case()
        let second = Case()
        #expect(first == first)
        #expect(first != second)
        #expect(areEqual(first, first))
        #expect(!areEqual(first, second))
        #expect([first, second] == [first, second])
        #expect(Set([first, first, second]).count == 2)
    }

    @Test func `a context fetches and saves models that are equal`() throws {
        let container = try ModelContainer(
            for: Coin.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        context.insert(Coin(1))
        context.insert(Coin(1))
        try context.save()
        let other = ModelContext(container)
        let coins = try other.fetch(FetchDescriptor<Coin>())
        #expect(coins.count == 2)
        coins.forEach { $0.value = 3 }
        other.delete(coins[0])
        try other.save()
        #expect(try other.fetch(FetchDescriptor<Coin>()).map(\.value) == [3])
    }
}
