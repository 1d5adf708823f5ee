import Foundation
import ObjectGraph

/// The rows of an old table that become rows of a new table.
struct RowSource {
    /// The root entity of the old table.
    let oldRoot: Entity
    let oldTable: EntityTable
    /// The old entities with rows for the new table, each with its new entity.
    let members: [(old: Entity, new: Entity)]
    /// The difference between the new and the old primary keys.
    var keyOffset: Int64

    /// The alias of the old table in expressions.
    static let alias = "s"

    /// Whether some rows of the old table do not become rows of the new table.
    var isPartial: Bool {
        let known = Set(members.map(\.old))
        return oldRoot.family.contains { !$0.isAbstract && !known.contains($0) }
    }

    /// The conditions that a row belongs to one of the old entities; empty if every row of the table belongs to one.
    func conditions(_ entities: [Entity]) -> [String] {
        let isAll = oldRoot.family.allSatisfy { $0.isAbstract || entities.contains($0) }
        return isAll ? [] : [Self.condition(entities, oldTable, Self.alias)]
    }

    static func condition(_ entities: [Entity], _ table: EntityTable, _ alias: String) -> String {
        guard table.hasEntityColumn else { return entities.isEmpty ? "0" : "1" }
        let codes = entities.compactMap { table.codes[$0] }.sorted().map(String.init)
        return #"\#(alias)."_entity" IN (\#(codes.joined(separator: ", ")))"#
    }

    /// The key in the new table for a key of the old table.
    static func key(_ expression: String, plus offset: Int64) -> String {
        offset == 0 ? expression : "\(expression) + \(offset)"
    }
}

/// The value of a new column in the rows of an old table.
enum ColumnExpression: Hashable {
    /// The value of an old column.
    case column(String)
    /// The same value in all rows.
    case constant(Value)
    /// An expression over the columns of the old row.
    case computed(String)

    static let null = ColumnExpression.constant(.null)

    var sql: String {
        switch self {
        case .column(let name): "\(RowSource.alias).\(name)"
        case .constant(let value): value.sqlExpression
        case .computed(let sql): sql
        }
    }
}

extension Value {
    /// The literal of the value; nil if no literal represents it exactly.
    var sqlLiteral: String? {
        switch self {
        case .null: "NULL"
        case .integer(let integer): integer == .min ? nil : String(integer)
        case .real(let real):
            // SQLite parses numbers with few digits exactly.
            abs(real) < 1e15 && (real * 1000).rounded() == real * 1000 && real.bitPattern != (-0.0).bitPattern
                ? real.description : nil
        case .text(let text): text.utf8.contains(0) ? nil : SQL.literal(text)
        case .blob(let data): Self.literal(data)
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { Self.literal($0) }
        }
    }

    /// An expression with exactly this value.
    var sqlExpression: String {
        if let sqlLiteral { return sqlLiteral }
        switch self {
        case .integer: return "(-9223372036854775807 - 1)"
        case .real(let real): return "\(QueryFunctions.realName)(\(Int64(bitPattern: real.bitPattern)))"
        case .text(let text): return "CAST(\(Self.literal(text.utf8)) AS TEXT)"
        case .null, .blob, .uuid: return "NULL"
        }
    }

    private static func literal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return "x'\(String(decoding: text, as: UTF8.self))'"
    }
}
