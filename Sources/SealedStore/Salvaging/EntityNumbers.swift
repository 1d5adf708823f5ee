import EncryptedSQLite
import ObjectGraph

/// Finds the entities of the numbers in the column `_entity` of a table, if the record of the numbers is lost.
///
/// The order of the declarations does not show the numbers: migrations keep the numbers of entities, and give new
/// entities further numbers. But a row has values only in the columns of its entity's properties, and a value in each
/// column of its required attributes, and different numbers belong to different entities. A number is known if these
/// rules leave one entity for it.
struct EntityNumbers {
    private let table: EntityTable
    private let source: DamagedStore.Table
    /// The places of the table's columns in a row.
    private let places: [Int?]
    private var content: [Int64: Content] = [:]

    /// The content of the rows with a number.
    private struct Content {
        /// Whether a row has a value in a column, and whether a row has none, at the positions of the table's columns.
        var isFilled: [Bool]
        var isEmpty: [Bool]

        init(count: Int) {
            isFilled = Array(repeating: false, count: count)
            isEmpty = isFilled
        }
    }

    init(_ table: EntityTable, from source: DamagedStore.Table) {
        self.table = table
        self.source = source
        places = table.columns.map { source.place(of: $0.name) }
    }

    /// Adds a row.
    mutating func add(_ values: [StoredValue]) {
        guard let number = source.entityNumber(of: values) else { return }
        // More numbers than entities contradict the model. One number more than that is enough to know it.
        guard content[number] != nil || content.count <= table.root.family.count else { return }
        var seen = content.removeValue(forKey: number) ?? Content(count: places.count)
        for (position, place) in places.enumerated() {
            guard let place, place < values.count else {
                let isNull = source.defaults[table.columns[position].name].map { $0 == .null } ?? true
                if isNull { seen.isEmpty[position] = true } else { seen.isFilled[position] = true }
                continue
            }
            switch values[place] {
            case .null: seen.isEmpty[position] = true
            case .lost: break
            default: seen.isFilled[position] = true
            }
        }
        content[number] = seen
    }

    /// The entities whose numbers are known.
    func entities() -> [Int64: Entity] {
        let family = table.root.family.filter { !$0.isAbstract }
        guard content.count <= family.count else { return [:] }
        let numbers = content.keys.sorted()
        let candidates = numbers.map { number in
            family.indices.filter { index in content[number].map { fits(family[index], $0) } ?? false }
        }
        var known: [Int64: Entity] = [:]
        for (position, number) in numbers.enumerated() {
            let possible = candidates[position].filter { entity in
                var others = candidates
                others[position] = [entity]
                return Self.haveDifferentEntities(others)
            }
            if possible.count == 1 { known[number] = family[possible[0]] }
        }
        return known
    }

    /// Whether rows with some content can belong to an entity.
    private func fits(_ entity: Entity, _ content: Content) -> Bool {
        table.columns.indices.allSatisfy { position in
            let property = table.columns[position].property
            guard property.isDeclared(by: entity) else { return !content.isFilled[position] }
            guard case .attribute(let attribute) = property, !attribute.isOptional else { return true }
            return !content.isEmpty[position]
        }
    }

    /// Whether each number can have one of its candidates that no other number has: a complete matching of a bipartite
    /// graph, which is built along augmenting paths.
    private static func haveDifferentEntities(_ candidates: [[Int]]) -> Bool {
        var owners: [Int: Int] = [:]
        func findEntity(for position: Int, _ visited: inout Set<Int>) -> Bool {
            for entity in candidates[position] where visited.insert(entity).inserted {
                if let owner = owners[entity], !findEntity(for: owner, &visited) { continue }
                owners[entity] = position
                return true
            }
            return false
        }
        return candidates.indices.allSatisfy { position in
            var visited: Set<Int> = []
            return findEntity(for: position, &visited)
        }
    }
}

extension Property {
    /// Whether objects of an entity have the property.
    func isDeclared(by entity: Entity) -> Bool { entity.propertiesByName[name] == self }
}
