import EncryptedSQLite
import ObjectGraph

extension OpenStore {
    /// Deletes the rows that match a batch request, in one transaction.
    func delete(_ request: BatchDeleteRequest, author: String?) throws -> BatchChanges {
        try writeTransaction { connection in
            let history = try HistoryRecorder.begin(connection, self, author: author)
            let changes = try BatchDelete(request, connection, self).run(history)
            _ = try history?.finish()
            return changes
        }
    }
}

/// The statements of one batch delete, on one connection, each for all deleted objects of a root entity.
private struct BatchDelete {
    private let request: BatchDeleteRequest
    private let connection: Connection
    private let store: OpenStore
    /// The relationships along which the request deletes further objects.
    private let cascades: [Relationship]
    /// The root entities whose objects may be deleted.
    private let roots: [Entity]

    init(_ request: BatchDeleteRequest, _ connection: Connection, _ store: OpenStore) {
        self.request = request
        self.connection = connection
        self.store = store
        let model = store.schema.model
        var reached: Set<Int> = [request.entity.rootIndex]
        var cascades: [Relationship] = []
        var isComplete = false
        while !isComplete {
            isComplete = true
            for relationship in model.relationships
            where relationship.deleteRule == .cascade && reached.contains(relationship.source.rootIndex)
                && !cascades.contains(relationship)
            {
                cascades.append(relationship)
                reached.insert(relationship.destination.rootIndex)
                isComplete = false
            }
        }
        self.cascades = cascades
        roots = reached.sorted().map { model.entities[$0] }
    }

    func run(_ history: HistoryRecorder?) throws -> BatchChanges {
        let keys = try BatchKeys(connection)
        try collect(keys)
        try requireRules()
        var changes = BatchChanges()
        var cleared = ClearedRows()
        for root in roots {
            let deleted = try keys.keys(of: root)
            guard !deleted.isEmpty else { continue }
            changes.deleted.append(.init(entity: root == requestRoot ? request.entity : root, keys: deleted))
            try history?.addDeletions(deleted, of: root)
            try delete(root, history, &cleared)
        }
        changes.cleared = cleared.lists(store.schema.model)
        try keys.clear()
        return changes
    }

    private var requestRoot: Entity { store.schema.model.root(of: request.entity) }

    // MARK: Objects

    /// Finds the objects that match, and their destinations along cascades, at any depth.
    private func collect(_ keys: BatchKeys) throws {
        let selection = try request.fetchRequest.keySelection(store, on: connection)
        guard !cascades.isEmpty else { return try keys.insert(selection.sql.text, selection.parameters) }
        let steps = cascades.map { relationship in
            let walk = RelationshipWalk(relationship, store)
            return """
                SELECT \(relationship.destination.rootIndex), \(walk.destination) FROM doomed CROSS JOIN \(walk.tables) \
                WHERE doomed."root" = \(relationship.source.rootIndex) AND \(walk.source) = doomed."key"
                """
        }
        let all = ([selection.sql.text] + steps).joined(separator: " UNION ")
        try keys.insert(
            #"SELECT "root", "key" FROM doomed"#,
            prefix: #"WITH RECURSIVE doomed ("root", "key") AS (\#(all)) "#,
            selection.parameters
        )
    }

    /// Deletes the rows of a root entity, and every reference to them.
    private func delete(_ root: Entity, _ history: HistoryRecorder?, _ cleared: inout ClearedRows) throws {
        let keys = BatchKeys.keys(of: root)
        let table = store.schema.table(of: root)
        try store.largeValues(on: connection)?.delete(
            referredToBy: store.referringColumns(of: root, on: connection),
            of: #"\#(table.name) WHERE "_id" IN (\#(keys))"#
        )
        try run(#"DELETE FROM \#(table.name) WHERE "_id" IN (\#(keys))"#)
        for relationship in store.schema.model.relationships {
            switch relationship.placement {
            case .sourceKey where relationship.destination.rootIndex == root.index:
                let column = store.schema.keyColumn(of: relationship).name
                let table = store.schema.table(of: relationship.source).name
                let clearing = SQLText(store.schema.clearing(relationship, where: "\(column) IN (\(keys))"))
                guard let history else {
                    cleared.add(try connection.keys(clearing) { _ in }, of: relationship)
                    continue
                }
                let sources = try history.clear(
                    relationship,
                    with: clearing,
                    finding: SQLText(#"SELECT "_id" FROM \#(table) WHERE \#(column) IN (\#(keys))"#)
                ) { _ in }
                cleared.add(sources, of: relationship)
            case .joinTable(isCanonical: true):
                guard let pairs = store.schema.joinTables[relationship.index] else { continue }
                let (owner, member) = (pairs.owner, pairs.member)
                if relationship.source.rootIndex == root.index {
                    try history?
                        .willDeletePairs(of: pairs.name, own: owner, other: member, relationship.inverse, keys)
                    try run("DELETE FROM \(pairs.name) WHERE \(pairs.owner) IN (\(keys))")
                }
                if relationship.destination.rootIndex == root.index {
                    try history?.willDeletePairs(of: pairs.name, own: member, other: owner, relationship, keys)
                    try run("DELETE FROM \(pairs.name) WHERE \(pairs.member) IN (\(keys))")
                }
            default: continue
            }
        }
        try store.clearAsideReferences(to: root, history, on: connection) {
            "\($0) IN (\(keys))"
        } binding: { _ in
        }
    }

    private func run(_ sql: String) throws {
        try connection.withStatement(sql) { try $0.run() }
    }

    // MARK: Delete rules

    /// - Throws: `ObjectGraphError.validation` with objects whose deletion is denied, and with objects that would lose
    ///   a required destination.
    private func requireRules() throws {
        var problems: [ObjectGraphError.ValidationProblem] = []
        let deletable = Set(roots.map(\.index))
        for relationship in store.schema.model.relationships where deletable.contains(relationship.source.rootIndex) {
            let walk = RelationshipWalk(relationship, store)
            switch relationship.deleteRule {
            case .deny:
                for key in try survivors(walk, relationship, select: walk.source) {
                    problems.append(problem(relationship, key, .deletionDenied))
                }
            case .nullify:
                guard let inverse = relationship.inverse, !inverse.isToMany, !inverse.isOptional else { continue }
                for key in try survivors(walk, relationship, select: walk.destination) {
                    problems.append(problem(inverse, key, .missingValue))
                }
            case .cascade, .noAction: continue
            }
        }
        for relationship in store.schema.model.relationships
        where deletable.contains(relationship.destination.rootIndex) && relationship.isLeftByDestination {
            for key in try referrers(along: relationship) { problems.append(problem(relationship, key, .missingValue)) }
        }
        guard problems.isEmpty else { throw ObjectGraphError.validation(problems) }
    }

    /// One end of the pairs of a relationship whose source is deleted and whose destination is not.
    private func survivors(_ walk: RelationshipWalk, _ relationship: Relationship, select: String) throws -> [Int64] {
        let sql = """
            SELECT DISTINCT \(select) FROM \(walk.tables) \
            WHERE \(walk.source) IN (\(BatchKeys.keys(of: relationship.source))) \
            AND NOT \(BatchKeys.contains(walk.destination, of: relationship.destination)) LIMIT \(batchProblemLimit)
            """
        return try connection.withStatement(sql) { statement in
            var keys: [Int64] = []
            while try statement.step() { keys.append(statement.integer(at: 0)) }
            return keys
        }
    }

    /// The remaining objects with a deleted destination along a to-one relationship.
    private func referrers(along relationship: Relationship) throws -> [Int64] {
        let walk = RelationshipWalk(relationship, store)
        let sql = """
            SELECT DISTINCT \(walk.source) FROM \(walk.tables) \
            WHERE \(walk.destination) IN (\(BatchKeys.keys(of: relationship.destination))) \
            AND NOT \(BatchKeys.contains(walk.source, of: relationship.source)) LIMIT \(batchProblemLimit)
            """
        return try connection.withStatement(sql) { statement in
            var keys: [Int64] = []
            while try statement.step() { keys.append(statement.integer(at: 0)) }
            return keys
        }
    }

    private func problem(
        _ relationship: Relationship,
        _ key: Int64,
        _ reason: ObjectGraphError.ValidationProblem.Reason
    ) -> ObjectGraphError.ValidationProblem {
        let id = ManagedObjectID(entity: relationship.source, storeUUID: store.uuid, key: key)
        return .init(id: id, property: relationship.name, reason: reason)
    }
}

extension Relationship {
    /// Whether this is a required to-one relationship to which no delete rule of the destination applies.
    fileprivate var isLeftByDestination: Bool {
        !isToMany && !isOptional && inverse?.deleteRule ?? .noAction == .noAction
    }
}

/// The tables and columns by which a statement finds the destinations of a relationship's sources.
private struct RelationshipWalk {
    /// The tables that hold the pairs, restricted to pairs whose destination exists.
    let tables: String
    /// The key of the source.
    let source: String
    /// The key of the destination.
    let destination: String

    init(_ relationship: Relationship, _ store: OpenStore) {
        let schema = store.schema
        let table = schema.table(of: relationship.destination).name
        if let pairs = schema.joinTables[relationship.index] {
            tables = "\(pairs.name) AS p"
            source = "p.\(pairs.owner)"
            destination = "p.\(pairs.member)"
        } else if relationship.isToMany, let inverse = relationship.inverse {
            tables = "\(table) AS d"
            source = "d.\(schema.keyColumn(of: inverse).name)"
            destination = #"d."_id""#
        } else {
            let key = schema.keyColumn(of: relationship).name
            tables = #"\#(schema.table(of: relationship.source).name) AS s JOIN \#(table) AS d ON d."_id" = s.\#(key)"#
            source = #"s."_id""#
            destination = #"d."_id""#
        }
    }
}
