import Foundation

@testable import SealedData

extension RandomWorld {
    // The compiler finds the conformance of a class with a macro here, but not always in a condition of `Optional`
    // below: that depends on the distribution of files.
    private typealias Shops = Set<Stock.Shop>

    /// One random query for aggregates, of all items or of groups of them.
    ///
    /// - Throws: ``Difference``.
    mutating func checkAggregates() throws {
        let predicate = query.predicate()
        let items = try context.fetch(FetchDescriptor<Item>()).filter { try predicate.evaluate($0) }
        do {
            try checkCounts(of: items, predicate)
            try checkNumbers(of: items, predicate)
            try checkExtremes(of: items, predicate)
            switch pick(5) {
            case 0: try checkGroups(of: items, by: \.kind, predicate)
            case 1: try checkGroups(of: items, by: \.optionalInt, predicate)
            case 2: try checkGroups(of: items, by: \.text, predicate)
            case 3: try checkGroups(of: items, by: \.shop?.name, predicate)
            default: try checkGroups(of: items, by: \.shop, predicate)
            }
        } catch let difference as Difference {
            throw Difference(description: "\(difference)\n\(outline(predicate))")
        }
    }

    private func expect<T: Equatable>(_ found: T, _ expected: T, _ name: String) throws {
        guard found == expected else { throw Difference(description: "\(name): \(found) instead of \(expected)") }
    }

    private func checkCounts(of items: [Item], _ predicate: Predicate<Item>) throws {
        let (count, ints, texts, decimals, shops) = try context.aggregate(
            Item.self,
            .count(),
            .count(\.optionalInt),
            .distinctCount(\.text),
            .distinctCount(\.optionalDecimal),
            .distinctCount(\Item.shop?.name),
            where: predicate
        )
        try expect(count, items.count, "count")
        try expect(ints, items.compactMap(\.optionalInt).count, "count of integers")
        try expect(texts, Set(items.map(\.text)).count, "different texts")
        try expect(decimals, Set(items.compactMap(\.optionalDecimal)).count, "different decimals")
        try expect(shops, Set(items.compactMap { $0.shop?.name }).count, "different names of shops")
    }

    private func checkNumbers(of items: [Item], _ predicate: Predicate<Item>) throws {
        let parts = #Expression<Item, Int> { $0.parts.count * 2 - 1 }
        let (smalls, shorts, decimals, average) = try context.aggregate(
            Item.self,
            .sum(\.small),
            .sum(of: parts),
            .sum(\.decimal),
            .average(\.optionalShort),
            where: predicate
        )
        try expect(smalls, items.map { Int($0.small) }.reduce(0, +), "sum of small integers")
        try expect(shorts, items.map { $0.parts.count * 2 - 1 }.reduce(0, +), "sum of an expression")
        try expect(decimals, items.map(\.decimal).reduce(0, +), "sum of decimals")
        let numbers = items.compactMap(\.optionalShort).map(Double.init)
        try expect(average, numbers.isEmpty ? nil : numbers.reduce(0, +) / Double(numbers.count), "average")

        let (zero, one) = (Decimal(0), Decimal(1))
        let product = #Expression<Item, Decimal> { ($0.optionalDecimal ?? zero) * ($0.amounts.max() ?? one) }
        let products = try context.aggregate(Item.self, .sum(of: product), where: predicate)
        let expected = items.map { ($0.optionalDecimal ?? 0) * ($0.amounts.max() ?? 1) }
        try expect(products, expected.reduce(0, +), "sum of products of decimals")

        // A partial sum may overflow in one order of the items and not in another.
        let ints = items.map(\.int)
        let largest = ints.map { Double($0.magnitude) }.reduce(0, +)
        let sum = try? context.aggregate(Item.self, .sum(\.int), where: predicate)
        if largest < 0x1p62 {
            try expect(sum, ints.reduce(0, +), "sum of integers")
        } else if let sum {
            try expect(sum, ints.reduce(0, &+), "sum of large integers")
        }
    }

    private func checkExtremes(of items: [Item], _ predicate: Predicate<Item>) throws {
        let (int, unsigned, double, decimal, date) = try context.aggregate(
            Item.self,
            .minimum(\.optionalInt),
            .maximum(\.unsigned),
            .minimum(\.double),
            .maximum(\.optionalDecimal),
            .minimum(\.optionalDate),
            where: predicate
        )
        try expect(int, items.compactMap(\.optionalInt).min(), "smallest integer")
        try expect(unsigned, items.map(\.unsigned).max(), "largest unsigned integer")
        try expect(double, items.map(\.double).min(), "smallest real number")
        try expect(decimal, items.compactMap(\.optionalDecimal).max(), "largest decimal")
        try expect(date, items.compactMap(\.optionalDate).min(), "earliest date")
        let other = Int16(4)
        let shorts = #Expression<Item, Int16> { $0.optionalShort ?? other }
        let word = UInt(1) << 62
        let words = #Expression<Item, UInt> { $0.optionalWord ?? word }
        let (text, short, smallest, largest) = try context.aggregate(
            Item.self,
            .maximum(\.text),
            .maximum(of: shorts),
            .minimum(of: words),
            .maximum(of: words),
            where: predicate
        )
        let composed = items.map(\.text).max { $0.precomposed < $1.precomposed }
        try expect(text, composed, "last text")
        try expect(smallest, items.map { $0.optionalWord ?? word }.min(), "smallest unsigned value of an expression")
        try expect(largest, items.map { $0.optionalWord ?? word }.max(), "largest unsigned value of an expression")
        try expect(short, items.map { $0.optionalShort ?? other }.max(), "largest value of an expression")
    }

    private mutating func checkGroups<Key: Hashable>(
        of items: [Item],
        by keyPath: KeyPath<Item, Key>,
        _ predicate: Predicate<Item>
    ) throws {
        let least = pick(4)
        let rows = try context.aggregate(
            Item.self,
            groupedBy: keyPath,
            computing: .count(),
            .maximum(\.optionalShort),
            where: predicate,
            having: .count() > least,
            sortBy: [AggregateSort(.count(), order: .reverse)]
        )
        let groups = Dictionary(grouping: items) { $0[keyPath: keyPath] }.filter { $1.count > least }
        try expect(rows.count, groups.count, "groups")
        try expect(rows.map(\.1), rows.map(\.1).sorted(by: >), "order of groups")
        for (key, count, short) in rows {
            try expect(count, groups[key]?.count ?? 0, "count of the group \(key)")
            try expect(short, groups[key]?.compactMap(\.optionalShort).max(), "largest of the group \(key)")
        }
    }
}

extension String {
    fileprivate var precomposed: String { precomposedStringWithCanonicalMapping }
}
