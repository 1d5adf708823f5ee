public import Foundation
import ObjectGraph

extension ModelContext {
    /// Computes values from the models of a class.
    ///
    /// ```swift
    /// let (count, pages) = try context.aggregate(
    ///     Book.self, .count(), .sum(\.pages), where: #Predicate { $0.isRead })
    /// ```
    ///
    /// - Parameters:
    ///   - model: The class; models of its subclasses are included.
    ///   - aggregates: The computations.
    ///   - predicate: The condition for models to be included; nil for all.
    ///   - includePendingChanges: Whether the results include unsaved changes of the context.
    /// - Throws: ``SwiftDataError/unsupportedPredicate`` and ``SwiftDataError/unsupportedKeyPath`` if the store cannot
    ///   compute a value; an error if a sum of integers does not fit in an `Int`; errors of the store.
    /// - Complexity: one statement, and no model is created, unless unsaved changes are included: then the values are
    ///   read for each model and aggregated in memory.
    public func aggregate<Model: PersistentModel, each Result>(
        _ model: Model.Type,
        _ aggregates: repeat Aggregate<Model, each Result>,
        where predicate: Predicate<Model>? = nil,
        includePendingChanges: Bool = true
    ) throws -> (repeat each Result) {
        var query = try AggregateQuery<Model>(in: self, where: predicate)
        for aggregate in repeat each aggregates { try query.add(aggregate) }
        query.request.includesPendingChanges = includePendingChanges
        var reader = AggregateRowReader(try query.row())
        return (repeat try reader.result(of: each aggregates))
    }

    // The compiler (Swift 6.3) does not infer the types of a closure of `#Expression` in an argument of a parameter pack
    // if the model is a class.
    /// Computes a value from the models of a class.
    ///
    /// ```swift
    /// let dearest = try context.aggregate(
    ///     Book.self, .maximum(of: #Expression<Book, Double> { $0.price * 2 }), where: #Predicate { $0.isRead })
    /// ```
    ///
    /// - Parameters:
    ///   - model: The class; models of its subclasses are included.
    ///   - aggregate: The computation.
    ///   - predicate: The condition for models to be included; nil for all.
    ///   - includePendingChanges: Whether the result includes unsaved changes of the context.
    /// - Throws: ``SwiftDataError/unsupportedPredicate`` and ``SwiftDataError/unsupportedKeyPath`` if the store cannot
    ///   compute the value; an error if a sum of integers does not fit in an `Int`; errors of the store.
    /// - Complexity: one statement, and no model is created, unless unsaved changes are included: then the values are
    ///   read for each model and aggregated in memory.
    public func aggregate<Model: PersistentModel, Result>(
        _ model: Model.Type,
        _ aggregate: Aggregate<Model, Result>,
        where predicate: Predicate<Model>? = nil,
        includePendingChanges: Bool = true
    ) throws -> Result {
        var query = try AggregateQuery<Model>(in: self, where: predicate)
        try query.add(aggregate)
        query.request.includesPendingChanges = includePendingChanges
        var reader = AggregateRowReader(try query.row())
        return try reader.result(of: aggregate)
    }

    /// Computes values from groups of the models of a class. The models of a group have the same values, or the same
    /// models, at the ends of key paths.
    ///
    /// ```swift
    /// let rows = try context.aggregate(
    ///     Book.self,
    ///     groupedBy: \.author?.name,
    ///     computing: .count(), .sum(\.pages),
    ///     having: .count() > 1,
    ///     sortBy: [AggregateSort(.sum(\.pages), order: .reverse)]
    /// )
    /// for (author, books, pages) in rows { … }
    /// ```
    ///
    /// - Parameters:
    ///   - model: The class; models of its subclasses are included.
    ///   - keys: The values that are equal for all models of a group. Models with nil form a group.
    ///   - aggregates: The computations for each group.
    ///   - predicate: The condition for models to be included; nil for all.
    ///   - condition: The condition for groups to be returned; nil for all.
    ///   - sort: The order of the groups. Groups that are equal in it are ordered by their keys.
    ///   - limit: The largest number of groups; nil for no limit.
    ///   - offset: The number of groups to skip at the beginning.
    ///   - includePendingChanges: Whether the results include unsaved changes of the context.
    /// - Returns: the keys of each group, followed by its aggregates.
    /// - Throws: as `aggregate(_:_:where:includePendingChanges:)`.
    /// - Complexity: as `aggregate(_:_:where:includePendingChanges:)`, and one statement for each key that is a
    ///   model.
    public func aggregate<Model: PersistentModel, each Key, each Result>(
        _ model: Model.Type,
        groupedBy keys: repeat KeyPath<Model, each Key>,
        computing aggregates: repeat Aggregate<Model, each Result>,
        where predicate: Predicate<Model>? = nil,
        having condition: AggregateCondition<Model>? = nil,
        sortBy sort: [AggregateSort<Model>] = [],
        limit: Int? = nil,
        offset: Int = 0,
        includePendingChanges: Bool = true
    ) throws -> [(repeat each Key, repeat each Result)] {
        var query = try AggregateQuery<Model>(in: self, where: predicate)
        for key in repeat each keys { try query.group(by: key) }
        for aggregate in repeat each aggregates { try query.add(aggregate) }
        query.request.havingPredicate = try condition?.expression(query.reader, query.request.entity)
        query.request.sort = try sort.map { try $0.sort(query.reader, of: query.request.entity) }
        query.request.limit = limit
        query.request.offset = offset
        query.request.includesPendingChanges = includePendingChanges
        let rows = try query.rows()
        let models = try query.models(in: rows)
        return try rows.map { row in
            var reader = AggregateRowReader(row, models)
            return (repeat try reader.key(at: each keys), repeat try reader.result(of: each aggregates))
        }
    }
}

/// A query for aggregates of the models of a class.
private struct AggregateQuery<Model: PersistentModel> {
    private let graph: ManagedObjectContext
    let reader: PredicateReader
    var request: DictionaryFetchRequest
    /// The classes and entities of models that are group keys, by column position.
    private var destinations: [Int: (type: any PersistentModel.Type, entity: Entity)] = [:]

    init(in context: ModelContext, where predicate: Predicate<Model>?) throws {
        graph = context.graph
        reader = PredicateReader(model: graph.model)
        guard let entity = graph.entity(for: Model.self) else {
            throw SwiftDataError(classOutsideSchema: Model.self)
        }
        request = DictionaryFetchRequest(entity)
        request.predicate = try predicate.map { try reader.read($0, entity: entity) }
    }

    mutating func add<Result>(_ aggregate: Aggregate<Model, Result>) throws {
        add(try aggregate.expression(reader, of: request.entity))
    }

    mutating func group<Key>(by keyPath: KeyPath<Model, Key>) throws {
        let path = try ColumnPath(keyPath, of: Model.self, entity: request.entity)
        if let entity = path.destination, let type = PropertyKind.unwrapped(Key.self) as? any PersistentModel.Type {
            destinations[request.propertiesToFetch.count] = (type, entity)
        }
        request.propertiesToGroupBy.append(path.expression)
        add(path.expression)
    }

    private mutating func add(_ column: QueryExpression) {
        let name = String(request.propertiesToFetch.count)
        request.propertiesToFetch.append(ExpressionDescription(name, column))
    }

    func rows() throws -> DictionaryResults { try graph.fetchDictionaries(request) }

    /// Returns the row of a query without groups.
    func row() throws -> DictionaryRow {
        guard let row = try rows().first else {
            throw SwiftDataError(.unsupportedKeyPath, "the store returned no result")
        }
        return row
    }

    /// Returns the models that are group keys, by column position and primary key.
    func models(in rows: DictionaryResults) throws -> [Int: [Int64: any GraphObject]] {
        try destinations.reduce(into: [:]) { models, column in
            let (position, (type, entity)) = column
            let keys = rows.map { $0.values[$0.values.startIndex + position] }.filter { !$0.isNull }
            if keys.isEmpty { return }
            let request = FetchRequest(entity, predicate: .isMember(.variable(0), of: keys))
            models[position] = try objects(of: type, request)
        }
    }

    private func objects<T: PersistentModel>(
        of type: T.Type,
        _ request: FetchRequest
    ) throws -> [Int64: any GraphObject] {
        let objects = try graph.fetch(request, as: T.self)
        return Dictionary(objects.map { ($0.managedObjectID.key, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

/// Reads the columns of a row in order.
private struct AggregateRowReader {
    private let row: DictionaryRow
    private let models: [Int: [Int64: any GraphObject]]
    private var position = 0

    init(_ row: DictionaryRow, _ models: [Int: [Int64: any GraphObject]] = [:]) {
        self.row = row
        self.models = models
    }

    private mutating func next() -> Value {
        defer { position += 1 }
        return row.values[row.values.startIndex + position]
    }

    mutating func result<Model, Result>(of aggregate: Aggregate<Model, Result>) throws -> Result {
        try aggregate.result(of: next())
    }

    mutating func key<Model, Key>(at keyPath: KeyPath<Model, Key>) throws -> Key {
        let models = models[position]
        let value = next()
        if let models, case .integer(let key) = value, let model = models[key] as? Key { return model }
        guard let key = columnValue(value, as: Key.self) else {
            throw SwiftDataError(.unsupportedKeyPath, "models cannot be grouped by a '\(Key.self)'")
        }
        return key
    }
}
