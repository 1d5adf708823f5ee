import Foundation
import SealedData
import Testing

/// The goods of a shop, with values of every type that can be summed, many of them nil.
enum Ledger {
    enum Kind: String, Codable, CaseIterable {
        case book, tea, lamp
    }

    @Model
    final class Sale {
        var kind: Kind
        var pieces: Int
        var size: Int16?
        var views: UInt64
        var weight: Double?
        var ratio: Float
        var price: Decimal?
        var date: Date?
        var code: UUID
        var note: String?
        var customer: Customer?

        init(_ kind: Kind, pieces: Int) {
            self.kind = kind
            self.pieces = pieces
            views = 0
            ratio = 0
            code = UUID()
        }
    }

    @Model
    final class Customer {
        var name: String
        var city: String?
        @Relationship(inverse: \Sale.customer) var sales: [Sale] = []

        init(_ name: String, city: String?) {
            self.name = name
            self.city = city
        }
    }
}

@Suite("Aggregates of models") struct AggregateTests {
    typealias Sale = Ledger.Sale
    typealias Customer = Ledger.Customer

    private let context: ModelContext
    private let sales: [Sale]

    /// The checks run on saved models and on inserted, updated and deleted ones.
    init() throws {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        context = ModelContext(try ModelContainer(for: Sale.self, configurations: configuration))
        let customers = [Customer("Ann", city: "Bern"), Customer("Bob", city: nil), Customer("Cleo", city: "Bern")]
        for customer in customers { context.insert(customer) }
        sales = (0..<40).map { number in
            let sale = Sale(Ledger.Kind.allCases[number % 3], pieces: number - 7)
            sale.size = number % 4 == 0 ? nil : Int16(number * 3)
            sale.views = number == 11 ? .max : UInt64(number)
            sale.weight = number % 5 == 0 ? nil : Double(number) / 4
            sale.ratio = Float(number) / 8
            sale.price = number % 7 == 0 ? nil : Decimal(number) / 100 + 1
            sale.date = number % 6 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number) * 1000)
            sale.note = number % 3 == 0 ? nil : "note \(number % 4)"
            sale.customer = number % 9 == 8 ? nil : customers[number % 3 == 0 ? 0 : number % 2 + 1]
            return sale
        }
        for sale in sales { context.insert(sale) }
    }

    /// Runs a check with all models unsaved, all saved, and some changed.
    private func check(_ body: ([Sale]) throws -> Void) throws {
        try body(sales)
        try context.save()
        try body(sales)
        for sale in sales.prefix(5) {
            sale.pieces += 1000
            sale.customer = nil
        }
        context.delete(sales[39])
        try body(Array(sales.dropLast()))
    }

    @Test func `counts, sums, averages and extremes equal Swift's`() throws {
        try check { sales in
            let (count, sizes, kinds, pieces, size) = try context.aggregate(
                Sale.self,
                .count(),
                .count(\.size),
                .distinctCount(\.kind),
                .sum(\.pieces),
                .sum(\.size)
            )
            #expect(count == sales.count)
            #expect(sizes == sales.compactMap(\.size).count)
            #expect(kinds == 3)
            #expect(pieces == sales.map(\.pieces).reduce(0, +))
            #expect(size == sales.compactMap(\.size).map(Int.init).reduce(0, +))
            let (ratio, average, least, most, first) = try context.aggregate(
                Sale.self,
                .sum(\.ratio),
                .average(\.weight),
                .minimum(\.pieces),
                .maximum(\.date),
                .minimum(\.note)
            )
            let weights = sales.compactMap(\.weight)
            #expect(ratio == sales.map { Double($0.ratio) }.reduce(0, +))
            #expect(average == weights.reduce(0, +) / Double(weights.count))
            #expect(least == sales.map(\.pieces).min())
            #expect(most == sales.compactMap(\.date).max())
            #expect(first == sales.compactMap(\.note).min())
        }
    }

    @Test func `a single aggregate is a value`() throws {
        let count = try context.aggregate(Sale.self, .count(), where: #Predicate { $0.pieces > 0 })
        #expect(count == sales.count { $0.pieces > 0 })
    }

    @Test func `decimals are summed exactly, and dates have an average`() throws {
        try check { sales in
            let (sum, average, date, least) = try context.aggregate(
                Sale.self,
                .sum(\.price),
                .average(\.price),
                .average(\.date),
                .minimum(\.price)
            )
            let prices = sales.compactMap(\.price)
            let seconds = sales.compactMap { $0.date?.timeIntervalSinceReferenceDate }
            #expect(sum == prices.reduce(0, +))
            // Both are rounded to 38 digits.
            #expect(try #require(average) * Decimal(prices.count) - prices.reduce(0, +) < Decimal(string: "1e-30")!)
            #expect(date == Date(timeIntervalSinceReferenceDate: seconds.reduce(0, +) / Double(seconds.count)))
            #expect(least == prices.min())
        }
    }

    @Test func `unsigned integers of 64 bits are compared as unsigned, and a sum that overflows is an error`() throws {
        try check { sales in
            let (most, least) = try context.aggregate(Sale.self, .maximum(\.views), .minimum(\.views))
            #expect(most == .max)
            #expect(least == sales.map(\.views).min())
            #expect(throws: (any Error).self) { try context.aggregate(Sale.self, .sum(\.views)) }
            let few = try context.aggregate(Sale.self, .sum(\.views), where: #Predicate { $0.pieces < 0 })
            #expect(few == sales.filter { $0.pieces < 0 }.map { Int($0.views) }.reduce(0, +))
        }
    }

    @Test func `computed values are aggregated like properties`() throws {
        let odd = #Expression<Sale, Int> { $0.pieces * 2 + 1 }
        let weight = #Expression<Sale, Double> { ($0.weight ?? 1) * 2 }
        let length = #Expression<Sale, Int> { $0.note?.count ?? -1 }
        let city = #Expression<Sale, String?> { $0.customer?.city }
        let twice = #Expression<Sale, Int> { $0.pieces * 2 }
        try check { sales in
            let (sum, average, most, bought, places) = try context.aggregate(
                Sale.self,
                .sum(of: odd),
                .average(of: weight),
                .maximum(of: length),
                .count(of: city),
                .distinctCount(of: twice)
            )
            #expect(sum == sales.map { $0.pieces * 2 + 1 }.reduce(0, +))
            #expect(average == sales.map { ($0.weight ?? 1) * 2 }.reduce(0, +) / Double(sales.count))
            #expect(most == sales.map { $0.note?.count ?? -1 }.max())
            #expect(bought == sales.compactMap { $0.customer?.city }.count)
            #expect(places == Set(sales.map { $0.pieces * 2 }).count)
            let kinds = try context.aggregate(
                Sale.self,
                groupedBy: \.kind,
                computing: .sum(of: twice),
                having: .maximum(of: twice) > 10,
                sortBy: [AggregateSort(.sum(of: twice), order: .reverse)]
            )
            let expected = Dictionary(grouping: sales, by: \.kind).mapValues { $0.map { $0.pieces * 2 }.reduce(0, +) }
            #expect(kinds.map(\.1) == expected.values.sorted(by: >))
        }
        let large = Int.max
        let overflowing = #Expression<Sale, Int> { $0.pieces * large }
        #expect(throws: (any Error).self) { try context.aggregate(Sale.self, .sum(of: overflowing)) }
        let unsupported = #Expression<Sale, Int> { $0.note?.utf8.count ?? 0 }
        #expect(throws: SwiftDataError.unsupportedPredicate) {
            try context.aggregate(Sale.self, .sum(of: unsupported))
        }
    }

    @Test func `without models there are no values, and sums are 0`() throws {
        try check { _ in
            let (count, sum, price, average, most) = try context.aggregate(
                Sale.self,
                .count(),
                .sum(\.pieces),
                .sum(\.price),
                .average(\.weight),
                .maximum(\.note),
                where: #Predicate { $0.pieces > 1_000_000 }
            )
            #expect(count == 0)
            #expect(sum == 0)
            #expect(price == 0)
            #expect(average == nil)
            #expect(most == nil)
            let groups = try context.aggregate(
                Sale.self,
                groupedBy: \.kind,
                computing: .count(),
                where: #Predicate { $0.pieces > 1_000_000 }
            )
            #expect(groups.isEmpty)
        }
    }

    @Test func `groups have keys, and are sorted by them`() throws {
        try check { sales in
            let rows = try context.aggregate(
                Sale.self,
                groupedBy: \.kind,
                computing: .count(),
                .sum(\.pieces)
            )
            let expected = Dictionary(grouping: sales, by: \.kind).sorted { $0.key.rawValue < $1.key.rawValue }
            #expect(rows.map { $0.0 } == expected.map(\.key))
            #expect(rows.map { $0.1 } == expected.map(\.value.count))
            #expect(rows.map { $0.2 } == expected.map { $0.value.map(\.pieces).reduce(0, +) })
        }
    }

    @Test func `groups can be keyed by relationships, nil included`() throws {
        try check { sales in
            let rows = try context.aggregate(
                Sale.self,
                groupedBy: \.customer?.city,
                \.kind,
                computing: .count()
            )
            let expected = Dictionary(grouping: sales) { "\($0.customer?.city ?? "-") \($0.kind.rawValue)" }
            let found = rows.map { city, kind, count in ("\(city ?? "-") \(kind.rawValue)", count) }
            #expect(Dictionary(uniqueKeysWithValues: found) == expected.mapValues(\.count))
            #expect(rows.first?.0 == nil)
        }
    }

    @Test func `models can be group keys`() throws {
        try check { sales in
            let rows = try context.aggregate(Sale.self, groupedBy: \.customer, computing: .count())
            let expected = Dictionary(grouping: sales) { $0.customer?.name }.mapValues(\.count)
            let found = rows.map { customer, count in (customer?.name, count) }
            #expect(Dictionary(uniqueKeysWithValues: found) == expected)
        }
    }

    @Test func `groups can be filtered, sorted and limited`() throws {
        try check { sales in
            let groups = Dictionary(grouping: sales, by: \.note).mapValues { $0.map(\.pieces).reduce(0, +) }
            let rows = try context.aggregate(
                Sale.self,
                groupedBy: \.note,
                computing: .sum(\.pieces),
                having: .sum(\.pieces) > 100 && !(.count() == 0),
                sortBy: [AggregateSort(.sum(\.pieces), order: .reverse), AggregateSort(\.note)]
            )
            let expected = groups.filter { $0.value > 100 }.sorted { $0.value > $1.value }
            #expect(rows.map { $0.1 } == expected.map(\.value))
            let some = try context.aggregate(
                Sale.self,
                groupedBy: \.note,
                computing: .sum(\.pieces),
                having: .average(\.weight) >= 0.5 || .maximum(\.size) != nil,
                sortBy: [AggregateSort(\.note, order: .reverse)],
                limit: 2,
                offset: 1
            )
            #expect(some.map { $0.0 } == Array(groups.keys.sorted { ($0 ?? "") > ($1 ?? "") }.dropFirst().prefix(2)))
        }
    }

    @Test func `unsaved changes can be excluded`() throws {
        try context.save()
        context.insert(Sale(.tea, pieces: 5))
        #expect(try context.aggregate(Sale.self, .count()) == 41)
        #expect(try context.aggregate(Sale.self, .count(), includePendingChanges: false) == 40)
    }

    @Test func `a predicate format selects the models`() throws {
        let predicate = try Sale.predicate(format: "customer.city == %@", arguments: ["Bern"])
        let count = try context.aggregate(Sale.self, .count(), where: predicate)
        #expect(count == sales.count { $0.customer?.city == "Bern" })
    }

    @Test func `values that cannot be columns are refused`() {
        #expect(throws: SwiftDataError.unsupportedKeyPath) {
            try context.aggregate(Customer.self, groupedBy: \.sales, computing: .count())
        }
        #expect(throws: SwiftDataError.unsupportedKeyPath) {
            try context.aggregate(Sale.self, .count(\.hasChanges))
        }
    }
}
