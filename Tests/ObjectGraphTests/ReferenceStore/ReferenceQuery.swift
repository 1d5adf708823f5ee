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

    // MARK: Conditions

    func isTrue(_ condition: QueryExpression, _ variables: [Object]) throws -> Bool {
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
            return values.contains { Self.order($0, element) == 0 }
        case .isKind(let start, let path, let entity):
            return object(at: path, variables[start]).flatMap { self.entity($0) }?.isKind(of: entity) == true
        case .quantified(let quantifier, let start, let path, _, let part):
            let members = members(at: path, variables[start]) ?? []
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

    func value(_ expression: QueryExpression, _ variables: [Object]) throws -> Value {
        switch expression {
        case .literal(let value): return value
        case .variable(let variable): return .integer(variables[variable].key)
        case .path(let start, let path):
            guard let last = path.last, let object = object(at: path.dropLast(), variables[start]) else { return .null }
            return record(object)?.values[last.name] ?? .null
        case .arithmetic(let operation, let left, let right):
            return try calculate(operation, value(left, variables), value(right, variables))
        case .conditional(let test, let first, let second):
            return try isTrue(test, variables) ? value(first, variables) : value(second, variables)
        case .coalesce(let parts):
            for part in parts {
                let value = try value(part, variables)
                if !value.isNull { return value }
            }
            return .null
        case .function(let function, let arguments):
            return apply(function, try arguments.map { try value($0, variables) })
        case .count(let start, let path, _, let condition):
            guard let members = members(at: path, variables[start]) else { return .null }
            var count: Int64 = 0
            for member in members where try isTrue(condition, variables + [member]) { count += 1 }
            return .integer(count)
        case .aggregate: throw QueryError.misplacedAggregate
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

    private func apply(_ function: QueryExpression.Function, _ arguments: [Value]) -> Value {
        if function == .minimum || function == .maximum {
            if arguments.contains(.null) { return .null }
            let sorted = arguments.sorted { Self.order($0, $1) < 0 }
            return (function == .minimum ? sorted.first : sorted.last) ?? .null
        }
        if function == .negate {
            if case .integer(let integer) = arguments[0] { return .integer(0 - integer) }
            return Self.number(arguments[0]).map { .real(-$0) } ?? .null
        }
        guard case .text(let text) = arguments[0] else { return .null }
        if function == .length { return .integer(Int64(text.count)) }
        guard case .text(let other) = arguments[1] else { return .null }
        let bytes = Array(text.utf8)
        let part = Array(other.utf8)
        let found: Bool
        switch function {
        case .contains:
            found = (0...bytes.count).contains { bytes.dropFirst($0).starts(with: part) }
        case .startsWith: found = bytes.starts(with: part)
        case .endsWith: found = bytes.suffix(part.count) == part[...]
        case .localizedContains: found = text.localizedStandardContains(other)
        default: return .integer(Int64(text.caseInsensitiveCompare(other).rawValue))
        }
        return .integer(found ? 1 : 0)
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

    private func members(at path: [Property], _ start: Object) -> [Object]? {
        guard case .relationship(let relationship)? = path.last, let owner = object(at: path.dropLast(), start),
            entity(owner)?.isKind(of: relationship.source) == true
        else { return nil }
        return members(of: relationship, owner.key).map { (relationship.destination.rootName, $0) }
    }

    /// The keys of an object's destinations: in order where the relationship has one, else by key.
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
        let bytes = (bytes(left), bytes(right))
        if bytes.0 == bytes.1 { return 0 }
        return bytes.0.lexicographicallyPrecedes(bytes.1) ? -1 : 1
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
