import Foundation
import SealedData
import Testing

/// Aggregates have the same values before a save, which the context computes, and after it, when the store does.
@Suite struct UnsavedAggregateTests {
    @Model final class Shelf {
        var name: String
        @Relationship(inverse: \Part.shelf) var parts: [Part] = []

        init(_ name: String) { self.name = name }
    }

    @Model final class Part {
        var weight: Double
        var count: Int
        var code: UInt64
        var shelf: Shelf?

        init(weight: Double = 0, count: Int = 0, code: UInt64 = 0) {
            self.weight = weight
            self.count = count
            self.code = code
        }
    }

    private let context: ModelContext

    init() throws {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        context = ModelContext(try ModelContainer(for: Shelf.self, configurations: configuration))
        context.autosaveEnabled = false
    }

    /// Expects that a function returns the same before and after a save.
    @discardableResult
    private func expectSame<T: Equatable>(_ read: () throws -> T) throws -> T {
        let unsaved = try read()
        try context.save()
        #expect(try read() == unsaved)
        return unsaved
    }

    /// The text of a result, in which NaN of either sign equals itself, or of the error.
    private func text<T>(_ read: () throws -> T) -> String {
        do { return "\(try read())".replacing("-nan", with: "nan") } catch { return "\(error)" }
    }

    @Test(arguments: [
        [1e16, 1, -1e16], [-1e16, 1, 1e16, 0.1, 0.2], [0.1, 0.2, 0.3, -0.6], [], [-0.0], [.infinity, 1],
        [.infinity, -.infinity], [1e308, 1e308, -1e308], [.leastNonzeroMagnitude, -.leastNonzeroMagnitude, 1],
        [1e-20, 1, 1e20, -1e20],
    ])
    func `sums and averages of floating-point numbers are rounded alike`(weights: [Double]) throws {
        let shelf = Shelf("shelf")
        context.insert(shelf)
        for weight in weights {
            let part = Part(weight: weight)
            context.insert(part)
            part.shelf = shelf
        }
        let sum: Double = weights.contains(1e16) && weights.count == 3 ? 1 : .nan
        let results = try expectSame {
            [
                text { try context.aggregate(Part.self, .sum(\.weight)) },
                text { try context.aggregate(Part.self, .average(\.weight)) },
                text { try context.aggregate(Part.self, .minimum(\.weight), .maximum(\.weight)) },
                text { try context.aggregate(Part.self, .distinctCount(\.weight)) },
                text {
                    try context.fetchCount(
                        FetchDescriptor<Shelf>(predicate: try Shelf.predicate(format: "parts.@sum.weight == 1"))
                    )
                },
            ]
        }
        if !sum.isNaN { #expect(results[0] == "1.0" && results.last == "1") }
    }

    @Test(arguments: [
        [1 << 53, 1, 1], [(1 << 53) + 1], [.max, 1], [.max, -1, .min], [.min, .min, .max], [.max, .max, 2], [],
        [4_503_599_627_370_497, .max, 3], [7, 7, 7],
    ])
    func `sums and averages of integers are exact or overflow alike`(counts: [Int]) throws {
        for count in counts { context.insert(Part(count: count, code: UInt64(bitPattern: Int64(count)))) }
        try expectSame {
            [
                text { try context.aggregate(Part.self, .sum(\.count)) },
                text { try context.aggregate(Part.self, .average(\.count)) },
                text { try context.aggregate(Part.self, .sum(\.code)) },
                text { try context.aggregate(Part.self, .average(\.code)) },
                text { try context.aggregate(Part.self, .minimum(\.code), .maximum(\.code)) },
            ]
        }
    }

    @Test func `negative zero in an expression is zero`() throws {
        for weight in [-0.0, 0.0, -1, 2] { context.insert(Part(weight: weight)) }
        let negative = #Predicate<Part> { 1 / $0.weight < 0 }
        let positive = #Predicate<Part> { 1 / -$0.weight > 0 }
        let counts = try expectSame {
            try [negative, positive].map { try context.fetchCount(FetchDescriptor(predicate: $0)) }
        }
        #expect(counts == [1, 3])
    }

    @Test func `values of different types that are equal count once`() throws {
        for count in [1, 2, 2] { context.insert(Part(weight: Double(count), count: count)) }
        let mixed = #Expression<Part, Double> { $0.count > 1 ? $0.weight : 2 }
        let count = try expectSame { try context.aggregate(Part.self, .distinctCount(of: mixed)) }
        #expect(count == 1)
    }

    @Test func `groups of new models are in the order of their insertion`() throws {
        for name in ["x", "y", "z"] {
            let shelf = Shelf(name)
            context.insert(shelf)
            let part = Part(weight: 1)
            context.insert(part)
            part.shelf = shelf
        }
        context.insert(Part())
        let names: [String?] = try expectSame {
            let rows = try context.aggregate(
                Part.self,
                groupedBy: \.shelf,
                computing: .count(),
                sortBy: [AggregateSort(.count())]
            )
            return rows.map { $0.0?.name }
        }
        #expect(names == [nil, "x", "y", "z"])
    }
}
