import ObjectGraph
import TestSupport

extension RandomOperations {
    func check(_ context: ManagedObjectContext, _ graph: PlainGraph, _ place: String) throws {
        var numbers: [ObjectIdentifier: Int] = [:]
        var objects: [Int: ManagedObject] = [:]
        for id in graph.objects.keys.sorted() {
            let object = try object(id, context)
            objects[id] = object
            numbers[ObjectIdentifier(object)] = id
        }
        for (id, plain) in graph.objects {
            let object = objects[id]!
            try expect(!object.isObjectDeleted, "\(place): object \(id) counts as deleted")
            for name in ["n", "s"] {
                try expect(object[name] == plain.values[name] ?? .null, "\(place): \(id).\(name)")
            }
            for relationship in plain.entity.relationships {
                let found: [Int]
                if relationship.isToMany {
                    found = object[many: relationship.name].map { numbers[ObjectIdentifier($0)] ?? -1 }
                } else {
                    let destination = object[one: relationship.name]
                    found =
                        destination.flatMap { $0.isObjectDeleted ? nil : [numbers[ObjectIdentifier($0)] ?? -1] } ?? []
                }
                let expected = graph.related(id, relationship)
                let agree = relationship.isOrdered ? found == expected : found.sorted() == expected.sorted()
                try expect(agree, "\(place): \(id).\(relationship.name) is \(found) instead of \(expected)")
            }
        }
        for entity in store.model.entities {
            let count = try context.count(context.request(entity.name))
            let expected = graph.objects.values.count { $0.entity.isKind(of: entity) }
            try expect(count == expected, "\(place): the number of objects of \(entity.name)")
        }
    }

    /// Checks the file for problems that no context sees: orphaned rows, shared positions, damage.
    func checkFile() throws {
        let problems = try store.problems()
        try expect(problems.isEmpty, "the file: \(problems.joined(separator: "; "))")
    }

    /// Compares fetches with a condition, a sort and a limit.
    mutating func checkFetches() throws {
        let entity = random.pick(store.model.entities)!
        let bound = Int64.random(in: 0..<10, using: &random)
        let path = store.model.path(entity.name, "n")
        var request = context.request(entity.name, where: path < .integer(bound), sortedBy: [QuerySort(path)])
        request.offset = random.chance(50) ? 0 : Int.random(in: 0..<4, using: &random)
        request.limit = random.chance(50) ? nil : Int.random(in: 0..<4, using: &random)
        let found: [ManagedObject] = try context.fetch(request)
        let fitting = graph.objects.values.filter { $0.entity.isKind(of: entity) }.compactMap { object -> Int64? in
            if case .integer(let n)? = object.values["n"], n < bound { n } else { nil }
        }
        let expected = fitting.sorted().dropFirst(request.offset).prefix(request.limit ?? .max)
        try expect(
            found.map { $0["n"] } == expected.map { .integer($0) },
            "\(found.map { "\($0.managedObjectID.key)" }) of \(entity.name) with n < \(bound)"
        )
        try expect(try context.count(request) == expected.count, "the count of \(entity.name) with n < \(bound)")

        // Paths across relationships see pending changes of other objects too.
        if let relationship = random.pick(entity.relationships.filter { $0.destination.attribute(named: "n") != nil }) {
            let condition: QueryExpression =
                relationship.isToMany
                ? .quantified(
                    .any,
                    .members(from: 0, [.relationship(relationship)]),
                    variable: 1,
                    condition: store.model.path(1, relationship.destination.name, "n") > .integer(bound)
                )
                : store.model.path(entity.name, relationship.name, "n") > .integer(bound)
            let count = try context.count(context.request(entity.name, where: condition))
            let expected = graph.objects.filter { id, object in
                object.entity.isKind(of: entity)
                    && graph.related(id, relationship).contains { other in
                        if case .integer(let n)? = graph.objects[other]!.values["n"] { n > bound } else { false }
                    }
            }
            try expect(count == expected.count, "\(entity.name) with \(relationship.name).n > \(bound)")
        }
    }
}
