import Foundation
import ObjectGraph

/// Evaluates query expressions over records, independently of the package's own evaluator.
struct ReferenceQuery {
    /// An object by the name of its root entity and its key.
    typealias Object = (root: String, key: Int64)

    private let data: ReferenceData
    private let model: ManagedObjectModel

    init(_ data: ReferenceData, _ model: ManagedObjectModel) {
        self.data = data
        self.model = model
    }

    /// The value of a variable.
    private enum Variable {
        case object(Object)
        case element(Value)

        var object: Object? {
            if case .object(let object) = self { object } else { nil }
        }

        var value: Value {
            switch self {
            case .object(let object): .integer(object.key)
            case .element(let value): value
            }
        }
    }

    func isTrue(_ condition: QueryExpression, _ objects: [Object]) throws -> Bool {
        try isTrue(condition, objects.map { .object($0) })
    }

    func value(_ expression: QueryExpression, _ objects: [Object]) throws -> Value {
        try value(expression, objects.map { .object($0) })
    }

    // MARK: Conditions

    private func isTrue(_ condition: QueryExpression, _ variables: [Variable]) throws -> Bool {
        switch condition {
        case .and(let parts):
            for part in parts where try !isTrue(part, variables) { return false }
            return true
        case .or(let parts):
            for part in parts where try isTrue(part, variables) { return true }
            return false
        case .not(let part): return try !isTrue(part, variables)
        case .comparison(let comparison, let left, let right):
            let left = try value(left, variables)
            let right = try value(right, variables)
            if Self.isNaN(left) || Self.isNaN(right) { return comparison == .notEqual }
            let order = Self.order(left, right)
            if comparison == .equal { return order == 0 }
            if comparison == .notEqual { return order != 0 }
            if left.isNull || right.isNull { return false }
            if comparison == .less { return order < 0 }
            if comparison == .lessOrEqual { return order <= 0 }
            if comparison == .greater { return order > 0 }
            return order >= 0
        case .isMember(let element, let values):
            let element = try value(element, variables)
            return !Self.isNaN(element) && values.contains { Self.order($0, element) == 0 }
        case .isKind(let start, let path, let entity):
            return variables[start].object.flatMap { object(at: path, $0) }.flatMap { self.entity($0) }?.isKind(
                of: entity
            ) == true
        case .quantified(let quantifier, let source, _, let part):
            let members = try members(of: source, variables) ?? []
            for member in members {
                if try isTrue(part, variables + [member]) != (quantifier == .all) { return quantifier == .any }
            }
            return quantifier == .all
        case .conditional(let test, let first, let second):
            return try isTrue(test, variables) ? isTrue(first, variables) : isTrue(second, variables)
        default:
            let value = try value(condition, variables)
            return !value.isNull && value != .integer(0)
        }
    }

    // MARK: Values

    private func value(_ expression: QueryExpression, _ variables: [Variable]) throws -> Value {
        switch expression {
        case .literal(let value): return value
        case .variable(let variable), .element(let variable, _): return variables[variable].value
        case .component(let keys, let whole, let type):
            guard case .text(let text) = try value(whole, variables) else { return .null }
            return JSONText(text).value(at: keys, as: type)
        case .path(let start, let path):
            guard let last = path.last, let start = variables[start].object,
                let object = object(at: path.dropLast(), start)
            else { return .null }
            return record(object)?.values[last.name] ?? .null
        case .arithmetic(let operation, let left, let right):
            guard let kind = QueryExpression.numberKind(of: left, right) else { throw QueryError.conflictingTypes }
            let (left, right) = (try value(left, variables), try value(right, variables))
            return kind == .int64 || kind == .double
                ? try calculate(operation, left, right) : try operation.apply(left, right, as: kind)
        case .conditional(let test, let first, let second):
            return try isTrue(test, variables) ? value(first, variables) : value(second, variables)
        case .coalesce(let parts):
            for part in parts {
                let value = try value(part, variables)
                if !value.isNull { return value }
            }
            return .null
        case .function(let function, let arguments):
            return try apply(function, try arguments.map { try value($0, variables) })
        case .aggregated(let aggregate, let source, _, let value, let condition):
            guard let members = try members(of: source, variables) else { return .null }
            var values: [Value] = []
            for member in members where try isTrue(condition, variables + [member]) {
                values.append(try self.value(value, variables + [member]))
            }
            return try aggregate.apply(values, of: value.resultType)
        case .aggregate: throw QueryError.misplacedAggregate
        case .parameter: throw QueryError.unboundParameter
        default:
            return .integer(try isTrue(expression, variables) ? 1 : 0)
        }
    }

    private func calculate(_ operation: QueryExpression.Arithmetic, _ left: Value, _ right: Value) throws -> Value {
        if case .integer(let left) = left, case .integer(let right) = right {
            let result =
                switch operation {
                case .add: left.addingReportingOverflow(right)
                case .subtract: left.subtractingReportingOverflow(right)
                case .multiply: left.multipliedReportingOverflow(by: right)
                case .divide: left.dividedReportingOverflow(by: right)
                case .remainder: left.remainderReportingOverflow(dividingBy: right)
                }
            if result.overflow { throw QueryError.arithmeticOverflow }
            return .integer(result.partialValue)
        }
        guard let left = Self.number(left), let right = Self.number(right) else { return .null }
        switch operation {
        case .add: return .real(left + right)
        case .subtract: return .real(left - right)
        case .multiply: return .real(left * right)
        case .divide: return .real(left / right)
        case .remainder: return .real(left.truncatingRemainder(dividingBy: right))
        }
    }

    /// Most functions are shared by all stores; the basic ones are implemented independently here.
    private func apply(_ function: QueryExpression.Function, _ arguments: [Value]) throws -> Value {
        if function == .minimum || function == .maximum {
            if arguments.contains(.null) { return .null }
            let sorted = arguments.sorted { Self.order($0, $1) < 0 }
            return (function == .minimum ? sorted.first : sorted.last) ?? .null
        }
        guard case .text(let text)? = arguments.first, case .text(let other)? = arguments.dropFirst().first else {
            return try function.apply(arguments)
        }
        let (characters, part) = (Array(text), Array(other))
        switch function {
        case .contains:
            let found = (0...characters.count).contains { characters.dropFirst($0).starts(with: part) }
            return .integer(found ? 1 : 0)
        case .startsWith: return .integer(characters.starts(with: part) ? 1 : 0)
        case .endsWith: return .integer(characters.suffix(part.count) == part[...] ? 1 : 0)
        default: return try function.apply(arguments)
        }
    }

    // MARK: Objects

    private func record(_ object: Object) -> ReferenceData.Record? { data.records[object.root]?[object.key] }

    private func entity(_ object: Object) -> Entity? { record(object).flatMap { model.entitiesByName[$0.entity] } }

    private func object(at path: some Sequence<Property>, _ start: Object) -> Object? {
        var object = start
        for case .relationship(let relationship) in path {
            guard case .integer(let key)? = record(object)?.values[relationship.name] else { return nil }
            object = (relationship.destination.rootName, key)
        }
        return object
    }

    private func members(of source: CollectionSource, _ variables: [Variable]) throws -> [Variable]? {
        switch source {
        case .members(let start, let path):
            return variables[start].object.flatMap { members(at: path, $0) }?.map { .object($0) }
        case .elements(let whole, let type):
            guard case .text(let text) = try value(whole, variables) else { return nil }
            return JSONText(text).elements(as: type)?.map { .element($0) }
        }
    }

    private func members(at path: [Property], _ start: Object) -> [Object]? {
        guard case .relationship(let relationship)? = path.last, let owner = object(at: path.dropLast(), start),
            entity(owner)?.isKind(of: relationship.source) == true
        else { return nil }
        return members(of: relationship, owner.key).map { (relationship.destination.rootName, $0) }
    }

    /// The keys of an object's destinations: in order if the relationship is ordered, else by key.
    func members(of relationship: Relationship, _ owner: Int64) -> [Int64] {
        members(of: relationship, ofAll: [owner])[owner] ?? []
    }

    /// The keys of several objects' destinations.
    func members(of relationship: Relationship, ofAll owners: [Int64]) -> [Int64: [Int64]] {
        var found: [Int64: Set<Int64>] = [:]
        switch relationship.placement {
        case .sourceKey:
            for owner in owners {
                let record = data.records[relationship.source.rootName]?[owner]
                if case .integer(let key)? = record?.values[relationship.name] { found[owner] = [key] }
            }
        case .destinationKey:
            let inverse = relationship.inverse!
            for (key, record) in data.records[relationship.destination.rootName] ?? [:]
            where model.entitiesByName[record.entity]!.isKind(of: inverse.source) {
                if case .integer(let owner)? = record.values[inverse.name] { found[owner, default: []].insert(key) }
            }
        case .joinTable(isCanonical: true):
            for pair in data.pairs[relationship.referenceName] ?? [] {
                found[pair.owner, default: []].insert(pair.member)
            }
        case .joinTable(isCanonical: false):
            for pair in data.pairs[relationship.inverse!.referenceName] ?? [] {
                found[pair.member, default: []].insert(pair.owner)
            }
        }
        var result: [Int64: [Int64]] = [:]
        for owner in owners {
            let members = found[owner] ?? []
            let ordered = (data.orders[relationship.referenceName]?[owner] ?? []).filter(members.contains)
            result[owner] = ordered + members.subtracting(ordered).sorted()
        }
        return result
    }

    // MARK: Order

    /// Negative, 0 or positive: null before numbers before text before bytes.
    static func order(_ left: Value, _ right: Value) -> Int {
        let ranks = (rank(left), rank(right))
        if ranks.0 != ranks.1 { return ranks.0 - ranks.1 }
        if case .integer(let left) = left, case .integer(let right) = right {
            return left < right ? -1 : left > right ? 1 : 0
        }
        if let left = number(left), let right = number(right) { return left < right ? -1 : left > right ? 1 : 0 }
        if case .text(let left) = left, case .text(let right) = right {
            return left == right ? 0 : left < right ? -1 : 1
        }
        let bytes = (bytes(left), bytes(right))
        if bytes.0 == bytes.1 { return 0 }
        return bytes.0.lexicographicallyPrecedes(bytes.1) ? -1 : 1
    }

    private static func isNaN(_ value: Value) -> Bool {
        if case .real(let number) = value { number.isNaN } else { false }
    }

    private static func rank(_ value: Value) -> Int {
        switch value {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob, .uuid: 3
        }
    }

    private static func number(_ value: Value) -> Double? {
        switch value {
        case .integer(let integer): Double(integer)
        case .real(let real): real
        default: nil
        }
    }

    private static func bytes(_ value: Value) -> [UInt8] {
        switch value {
        case .text(let text): Array(text.utf8)
        case .blob(let data): Array(data)
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { Array($0) }
        default: []
        }
    }
}
