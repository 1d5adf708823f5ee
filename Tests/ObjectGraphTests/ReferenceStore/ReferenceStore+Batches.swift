import Foundation
import Guarded
import ObjectGraph

/// Batch requests, object by object.
extension ReferenceStore {
    func execute(_ insertion: BatchInsertion, with context: RequestContext) throws -> BatchChanges {
        if description.isReadOnly { throw ObjectGraphError.storeIsReadOnly }
        // Before the data are locked: closures of the test make the rows.
        var all: [RowBatch] = []
        var changes = BatchChanges()
        while true {
            let first = backing.data.withLock { data in
                defer { data.lastKey += 100 }
                return data.lastKey + 1
            }
            let rows = try insertion.nextRows(keys: first..<first + 100)
            all.append(rows)
            if rows.count > 0 { changes.inserted.append(first..<first + Int64(rows.count)) }
            if rows.count < 100 { break }
        }
        changes.relationships = Array(insertion.relationships)
        try change(touching: [insertion.entity]) { data in
            for rows in all { write(rows, nil, &data) }
        }
        return changes
    }

    func execute(_ request: BatchUpdateRequest, with context: RequestContext) throws -> BatchChanges {
        if description.isReadOnly { throw ObjectGraphError.storeIsReadOnly }
        var changes = BatchChanges()
        let assignments = try request.assignments()
        try change(touching: [request.entity]) { data in
            let query = ReferenceQuery(data, model)
            let root = request.entity.rootName
            let keys = try keys(data, request.fetchRequest)
            var problems: [ObjectGraphError.ValidationProblem] = []
            for key in keys where !assignments.isEmpty {
                for (property, expression) in assignments {
                    let value = converted(try query.value(expression, [(root, key)]), for: property)
                    if let reason = property.problem(of: value) {
                        problems.append(
                            .init(id: id(key, request.entity, data), property: property.name, reason: reason)
                        )
                    }
                    data.records[root]?[key]?.values[property.name] = value
                }
                data.records[root]?[key]?.version += 1
            }
            if !problems.isEmpty { throw ObjectGraphError.validation(problems) }
            changes.updated = assignments.isEmpty ? [] : [.init(entity: request.entity, keys: keys.sorted())]
            changes.relationships = assignments.compactMap {
                if case .relationship(let relationship) = $0.property { relationship } else { nil }
            }
        }
        return changes
    }

    /// Integers become reals in an attribute of reals.
    private func converted(_ value: Value, for property: Property) -> Value {
        if case .attribute(let attribute) = property, attribute.type.storage == .real,
            case .integer(let integer) = value
        {
            return .real(Double(integer))
        }
        return value
    }

    func execute(_ request: BatchDeleteRequest, with context: RequestContext) throws -> BatchChanges {
        if description.isReadOnly { throw ObjectGraphError.storeIsReadOnly }
        var changes = BatchChanges()
        try change(touching: []) { data in
            let doomed = try doomed(request, data)
            let problems = problems(of: doomed, data)
            if !problems.isEmpty { throw ObjectGraphError.validation(problems) }
            for (root, keys) in doomed where !keys.isEmpty {
                let entity = root == request.entity.rootName ? request.entity : model.entitiesByName[root]!
                changes.deleted.append(.init(entity: entity, keys: keys.sorted()))
                delete(keys.map { .init(entity: entity, key: $0, row: nil) }, &data)
            }
        }
        return changes
    }

    /// The matching objects and the objects of their cascades, by root entity.
    private func doomed(_ request: BatchDeleteRequest, _ data: ReferenceData) throws -> [String: Set<Int64>] {
        var doomed: [String: Set<Int64>] = [:]
        var rest = try keys(data, request.fetchRequest).map { (request.entity.rootName, $0) }
        while let (root, key) = rest.popLast() {
            guard doomed[root, default: []].insert(key).inserted else { continue }
            for (relationship, members) in destinations(of: key, root, data) where relationship.deleteRule == .cascade {
                rest += members.map { (relationship.destination.rootName, $0) }
            }
        }
        return doomed
    }

    private func problems(
        of doomed: [String: Set<Int64>],
        _ data: ReferenceData
    ) -> [ObjectGraphError.ValidationProblem] {
        var problems: [ObjectGraphError.ValidationProblem] = []
        for (root, keys) in doomed {
            for key in keys {
                for (relationship, members) in destinations(of: key, root, data) {
                    let survivors = members.filter { doomed[relationship.destination.rootName]?.contains($0) != true }
                    if relationship.deleteRule == .deny, !survivors.isEmpty {
                        let id = id(key, relationship.source, data)
                        problems.append(.init(id: id, property: relationship.name, reason: .deletionDenied))
                    }
                    guard relationship.deleteRule == .nullify || relationship.deleteRule == .noAction,
                        let inverse = relationship.inverse, !inverse.isToMany,
                        !inverse.isOptional
                    else { continue }
                    problems += survivors.map {
                        .init(id: id($0, inverse.source, data), property: inverse.name, reason: .missingValue)
                    }
                }
            }
        }
        for relationship in model.relationships
        where relationship.inverse == nil && !relationship.isToMany && !relationship.isOptional {
            for (key, record) in data.records[relationship.source.rootName] ?? [:] {
                guard model.entitiesByName[record.entity]!.isKind(of: relationship.source),
                    case .integer(let destination)? = record.values[relationship.name],
                    doomed[relationship.destination.rootName]?.contains(destination) ?? false,
                    !(doomed[relationship.source.rootName]?.contains(key) ?? false)
                else { continue }
                let id = id(key, relationship.source, data)
                problems.append(.init(id: id, property: relationship.name, reason: .missingValue))
            }
        }
        return problems
    }

    private func destinations(of key: Int64, _ root: String, _ data: ReferenceData) -> [(Relationship, [Int64])] {
        guard let entity = data.records[root]?[key].flatMap({ model.entitiesByName[$0.entity] }) else { return [] }
        let query = ReferenceQuery(data, model)
        return entity.relationships.map { ($0, query.members(of: $0, key)) }
    }

    /// Changes the data, or leaves them unchanged if `body` throws or violates a rule.
    private func change(touching entities: Set<Entity>, _ body: (inout ReferenceData) throws -> Void) throws {
        try backing.data.withLock { data in
            var new = data
            try body(&new)
            try requireUniqueness(of: entities.reduce(into: []) { $0.formUnion($1.family) }, new)
            let dangling = danglingReferences(new)
            if !dangling.isEmpty { throw SaveConflict.outdated(dangling.map(\.destination)) }
            data = new
        }
    }
}
