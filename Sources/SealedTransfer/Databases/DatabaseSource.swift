import EncryptedSQLite
import Foundation
import ObjectGraph

/// The rows of a foreign database, as objects of its inferred model.
struct DatabaseSource: ImportSource {
    let inferred: InferredModel
    let connection: Connection

    var unitCount: Int64 { Int64(inferred.rowCount) }
    var needsIdentification: Bool { inferred.entities.contains { !$0.spaces.isEmpty } }

    func hasIntegerIDs(of root: Entity) -> Bool {
        inferred.entities.first { $0.name == root.name }?.table.rowIDName != nil
    }

    func read(into session: ImportSession) throws {
        for note in inferred.notes { session.note(notImported: note) }
        var count: Int64 = 0
        func advance() throws {
            count += 1
            if count % 256 == 0 { try session.advance(to: count) }
        }
        for source in inferred.entities { try read(source, session, advance) }
        for pair in inferred.pairs { try read(pair, session, advance) }
    }

    private func entity(_ name: String) -> Entity {
        guard let entity = inferred.model.entitiesByName[name] else {
            preconditionFailure("the model has its entities")
        }
        return entity
    }

    // MARK: Rows

    private func read(
        _ source: InferredModel.EntitySource,
        _ session: ImportSession,
        _ advance: () throws -> Void
    ) throws {
        let entity = entity(source.name)
        let primaryKey = source.table.primaryKey.map(\.name)
        let identity = source.table.rowIDName.map { [$0] } ?? primaryKey
        let columns = Columns(
            identity + source.attributes.map(\.column) + source.references.flatMap(\.columns)
                + source.spaces.flatMap(\.columns)
        )
        guard !columns.names.isEmpty else { return }
        let sql = "SELECT \(columns.list) FROM main.\(quoted(source.table.name))"
        try connection.withUncachedStatement(sql) { row in
            while try row.step() {
                var object = ImportedObject(entity)
                object.ids = [ImportedID(space: entity.index, id(row, columns.positions(identity)))]
                for (columnNames, number) in source.spaces {
                    let value = id(row, columns.positions(columnNames))
                    if value != .null { object.ids.append(ImportedID(space: spaceNumber(number), value)) }
                }
                for attribute in source.attributes {
                    guard let property = entity.attribute(named: attribute.name) else { continue }
                    let index = columns.position(attribute.column)
                    object.values[property.slot] = try value(row, index, attribute, source, session)
                }
                for reference in source.references {
                    guard let relationship = entity.relationship(named: reference.name) else { continue }
                    object.destinations.append((relationship, destination(row, columns, reference)))
                }
                try session.add(object)
                try advance()
            }
        }
    }

    private func value(
        _ row: borrowing Statement,
        _ index: Int32,
        _ attribute: InferredModel.AttributeSource,
        _ source: InferredModel.EntitySource,
        _ session: ImportSession
    ) throws -> Value {
        if let interpretation = attribute.interpretation {
            let stored =
                row.columnType(index) == .text
                ? String(validating: row.text(at: index), as: UTF8.self).map(Value.text) : row.value(at: index)
            if stored == .null { return .null }
            if let value = stored.flatMap(interpretation.value) { return value }
            session.countUnfit(attribute.name, of: source.name, "the value is not \(interpretation.rawValue)")
            return .null
        }
        if let value = ColumnContent.value(row, index, as: attribute.type) { return value }
        let reason = row.columnType(index) == .text ? "the text is not UTF-8" : "the number has no exact form"
        session.countUnfit(attribute.name, of: source.name, reason)
        return .null
    }

    private func read(
        _ pair: InferredModel.PairSource,
        _ session: ImportSession,
        _ advance: () throws -> Void
    ) throws {
        guard let relationship = entity(pair.owner.parent).relationship(named: pair.relationship) else { return }
        let columns = Columns(pair.owner.columns + pair.member.columns)
        var position: Int64 = 0
        try connection.withUncachedStatement("SELECT \(columns.list) FROM main.\(quoted(pair.table))") { row in
            while try row.step() {
                if let owner = destination(row, columns, pair.owner),
                    let member = destination(row, columns, pair.member)
                {
                    try session.add(member, to: relationship, of: owner, at: position)
                }
                position += 1
                try advance()
            }
        }
    }

    // MARK: Identifiers

    /// The further spaces are numbered behind those of the entities.
    private func spaceNumber(_ number: Int) -> Int { inferred.model.entities.count + number }

    /// The identifier that a foreign key leads to; nil if a column of it is null.
    private func destination(
        _ row: borrowing Statement,
        _ columns: Columns,
        _ reference: InferredModel.ReferenceSource
    ) -> ImportedID? {
        let value = id(row, columns.positions(reference.columns))
        guard value != .null, let parent = inferred.entities.first(where: { $0.name == reference.parent }) else {
            return nil
        }
        if let columnNames = reference.parentColumns,
            let space = parent.spaces.first(where: { $0.columns == columnNames })
        {
            return ImportedID(space: spaceNumber(space.number), value)
        }
        // SQLite compares a text with a row ID as a number.
        if case .text(let text) = value, parent.table.hasRowID, let number = Int64(text) {
            return ImportedID(space: entity(parent.name).index, .integer(number))
        }
        return ImportedID(space: entity(parent.name).index, value)
    }

    /// The value of one column, or one value for several columns; null if one of them is null.
    private func id(_ row: borrowing Statement, _ positions: [Int32]) -> Value {
        var values: [Value] = []
        for position in positions { values.append(row.value(at: position)) }
        if values.contains(.null) { return .null }
        if values.count == 1 { return values[0] }
        var bytes: [UInt8] = []
        for value in values {
            let (kind, content): (UInt8, [UInt8]) =
                switch value {
                case .integer(let integer): (1, withUnsafeBytes(of: integer.bigEndian) { Array($0) })
                case .real(let real): (2, withUnsafeBytes(of: real.bitPattern.bigEndian) { Array($0) })
                case .text(let text): (3, Array(text.utf8))
                case .blob(let data): (4, Array(data))
                case .null, .uuid: (0, [])
                }
            bytes.append(kind)
            bytes += withUnsafeBytes(of: UInt64(content.count).bigEndian) { Array($0) }
            bytes += content
        }
        return .blob(Data(bytes))
    }

    /// The columns of a statement, each once.
    private struct Columns {
        let names: [String]
        private let indexes: [String: Int32]

        init(_ all: [String]) {
            var names: [String] = []
            var indexes: [String: Int32] = [:]
            for name in all where indexes[name.lowercased()] == nil {
                indexes[name.lowercased()] = Int32(names.count)
                names.append(name)
            }
            self.names = names
            self.indexes = indexes
        }

        var list: String { names.map(quoted).joined(separator: ", ") }

        func position(_ name: String) -> Int32 { indexes[name.lowercased()] ?? 0 }
        func positions(_ names: [String]) -> [Int32] { names.map(position) }
    }
}
