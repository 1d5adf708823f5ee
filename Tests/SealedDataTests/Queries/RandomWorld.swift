import Foundation

@testable import ObjectGraph
@testable import SealedData
import TestSupport

/// Random objects, and queries about them.
struct RandomWorld {
    typealias Item = Stock.Item

    let context: ModelContext
    var query: RandomQuery

    init(seed: UInt64) throws {
        query = RandomQuery(SeededGenerator(seed: seed))
        let container = try ModelContainer(
            for: Item.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        context = ModelContext(container)
        context.autosaveEnabled = false
        fill()
        try context.save()
    }

    mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &query.random) }

    // MARK: Data

    private mutating func fill() {
        let shops = (0..<3).map { _ in Stock.Shop() }
        for shop in shops {
            context.insert(shop)
            shop.name = query.text()
            shop.size = query.maybe { $0.int() }
            shop.parent = pick(2) == 0 ? nil : shops[pick(shops.count)]
        }
        let items = (0..<24).map { _ in Item(uuid: query.uuid()) }
        for item in items {
            context.insert(item)
            change(item)
            item.shop = pick(3) == 0 ? nil : shops[pick(shops.count)]
            item.follows = (0..<pick(3)).map { _ in items[pick(items.count)] }
            for _ in 0..<pick(3) { item.parts.append(part()) }
        }
    }

    private mutating func part() -> Stock.Part {
        let part = Stock.Part()
        part.weight = query.int()
        part.label = query.maybe { $0.text() }
        return part
    }

    private mutating func change(_ item: Item) {
        item.flag = query.bool()
        item.maybe = query.maybe { $0.bool() }
        item.int = query.int()
        item.optionalInt = query.maybe { $0.int() }
        item.small = query.small()
        item.optionalShort = query.maybe { $0.short() }
        item.unsigned = query.unsigned()
        item.optionalUnsigned = query.maybe { $0.unsigned() }
        item.word = query.word()
        item.optionalWord = query.maybe { $0.word() }
        item.double = query.double()
        item.optionalDouble = query.maybe { $0.double() }
        item.float = query.float()
        item.decimal = query.decimal()
        item.optionalDecimal = query.maybe { $0.decimal() }
        item.text = query.text()
        item.optionalText = query.maybe { $0.text() }
        item.date = query.date()
        item.optionalDate = query.maybe { $0.date() }
        item.url = query.maybe { $0.url() }
        item.data = query.maybe { $0.data() }
        item.kind = query.kind()
        item.rank = query.maybe { $0.rank() }
        item.tags = query.list { $0.text() }
        item.numbers = query.maybe { $0.list { $0.int() } }
        item.reals = query.list { $0.double() }.filter(\.isFinite)
        item.amounts = query.list { $0.decimal() }
        item.codes = query.list { $0.unsigned() }
        item.place = place()
        item.optionalPlace = pick(2) == 0 ? nil : place()
        item.scores = pick(2) == 0 ? [:] : ["a": query.int(), "é": query.int()]
    }

    private mutating func place() -> Stock.Place {
        let height = query.double()
        return Stock.Place(
            name: query.text(),
            shelf: query.int(),
            height: height.isFinite ? height : 0,
            note: query.maybe { $0.text() }
        )
    }

    /// Changes, inserts and deletes some objects without saving.
    mutating func changeSome() throws {
        let items = try context.fetch(FetchDescriptor<Item>())
        for item in items {
            switch pick(5) {
            case 0: change(item)
            case 1: item.shop = nil
            case 2: item.follows = [items[pick(items.count)]]
            case 3 where pick(3) == 0: context.delete(item)
            default: if pick(3) == 0 { item.parts.append(part()) }
            }
        }
        for _ in 0..<3 {
            let item = Item(uuid: query.uuid())
            context.insert(item)
            change(item)
        }
        context.processPendingChanges()
    }

    // MARK: Queries

    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    /// One random query.
    ///
    /// - Throws: ``Difference``.
    mutating func check() throws {
        let predicate = query.predicate()
        let sorts = self.sorts()
        let all = try context.fetch(FetchDescriptor<Item>())
        var expected = try all.filter { try predicate.evaluate($0) }
        let matches = expected.count
        if !sorts.isEmpty { expected = Self.stableSort(expected, sorts) }
        var descriptor = FetchDescriptor<Item>(predicate: predicate, sortBy: sorts)
        if pick(3) == 0 {
            let (offset, limit) = (pick(6), pick(8))
            (descriptor.fetchOffset, descriptor.fetchLimit) = (offset, limit)
            expected = Array(expected.dropFirst(offset).prefix(limit))
        }
        let found: [Item]
        do {
            found = try context.fetch(descriptor)
        } catch {
            throw Difference(description: "\(error)\n\(outline(predicate))")
        }
        guard found.map(ObjectIdentifier.init) == expected.map(ObjectIdentifier.init) else {
            let names = { (items: [Item]) in items.map { String(all.firstIndex(of: $0) ?? -1) }.joined(separator: " ") }
            throw Difference(
                description: """
                    found [\(names(found))] instead of [\(names(expected))]
                    \(outline(predicate))
                    sorted by \(sorts.map { "\($0.keyPath as Any) \($0.order)" })
                    first different: \(description(of: Set(found).symmetricDifference(expected).first)) \
                    \(zip(found, expected).first { $0 !== $1 }.map { description(of: $0) + description(of: $1) } ?? "")
                    """
            )
        }
        if descriptor.fetchLimit == nil {
            let count = try context.fetchCount(descriptor)
            guard count == matches else {
                throw Difference(description: "counted \(count) instead of \(matches)\n\(outline(predicate))")
            }
        }
    }

    private func description(of item: Item?) -> String {
        guard let item else { return "none" }
        let texts = [item.text, item.optionalText ?? "-", item.place.name, item.shop?.name ?? "-"] + item.tags
        let scalars = texts.map { $0.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: "-") }
        return """
            texts \(scalars), ints \(item.int) \(item.optionalInt as Any) \(item.numbers as Any) \(item.small) \
            \(item.unsigned), reals \(item.double) \(item.optionalDouble as Any) \(item.float) \(item.reals), \
            \(item.decimal) \(item.optionalDecimal as Any), \(item.flag) \(item.maybe as Any), \(item.scores), \
            parts \(item.parts.map { ($0.weight, $0.label) }), new \(item.persistentModelID.storeIdentifier == nil)
            """
    }

    func outline(_ predicate: Predicate<Item>) -> String {
        let reader = PredicateReader(model: context.graph.model)
        guard let entity = context.graph.entity(for: Item.self) else { return "" }
        // Foundation cannot print predicates with custom nodes.
        do {
            return try reader.read(predicate, entity: entity).outline
        } catch {
            return "unreadable: \(error)"
        }
    }

    private mutating func sorts() -> [SortDescriptor<Item>] {
        (0..<pick(3)).map { _ in
            let order: SortOrder = pick(2) == 0 ? .forward : .reverse
            return switch pick(15) {
            case 0: SortDescriptor(\.flag, order: order)
            case 1: SortDescriptor(\.int, order: order)
            case 2: SortDescriptor(\.optionalInt, order: order)
            case 3: SortDescriptor(\.unsigned, order: order)
            case 4: SortDescriptor(\.double, order: order)
            case 5: SortDescriptor(\.decimal, order: order)
            case 6: SortDescriptor(\.optionalDecimal, order: order)
            case 7: SortDescriptor(\.text, order: order)
            case 8: SortDescriptor(\.optionalText, order: order)
            case 9: SortDescriptor(\.text, comparator: .localizedStandard, order: order)
            case 10: SortDescriptor(\.optionalText, comparator: .localizedStandard, order: order)
            case 11: SortDescriptor(\.shop?.name, order: order)
            case 12: SortDescriptor(\.shop?.parent?.size, order: order)
            case 13: SortDescriptor(\.date, order: order)
            default: SortDescriptor(\.float, order: order)
            }
        }
    }

    /// Foundation's sort is not stable.
    private static func stableSort(_ items: [Item], _ sorts: [SortDescriptor<Item>]) -> [Item] {
        items.enumerated().sorted { left, right in
            for sort in sorts {
                let order = sort.compare(left.element, right.element)
                if order != .orderedSame { return order == .orderedAscending }
            }
            return left.offset < right.offset
        }
        .map(\.element)
    }
}
