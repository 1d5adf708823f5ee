import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore

/// The rows of a foreign database, as objects of its inferred model.
struct DatabaseSource: ImportSource {
    let inferred: InferredModel
    let connection: Connection

    var unitCount: Int64 { Int64(inferred.rowCount) }
    var needsIdentification: Bool { inferred.entities.contains { !$0.spaces.isEmpty } }

    func hasIntegerIDs(of root: Entity) -> Bool {
        inferred.source(of: root.name)?.table.rowIDName != nil
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
        let identity = source.table.rowIDName.map { [$0] } ?? source.table.primaryKey.map(\.name)
        var columns = Columns()
        let identityPositions = columns.add(identity)
        let spaces = source.spaces.map { (number: spaceNumber($0.number), positions: columns.add($0.columns)) }
        let attributes = source.attributes.compactMap { attribute in
            entity.attribute(named: attribute.name).map {
                (source: attribute, slot: $0.slot, position: columns.add(attribute.column))
            }
        }
        let references = source.references.compactMap { reference in
            entity.relationship(named: reference.name).map {
                (relationship: $0, reference: Reference(reference, columns.add(reference.columns), inferred))
            }
        }
        guard !columns.names.isEmpty else { return }
        let sql = "SELECT \(columns.list) FROM main.\(source.table.name.quoted)"
        try connection.withUncachedStatement(sql) { row in
            while try row.step() {
                var object = ImportedObject(entity)
                if !identity.isEmpty { object.ids = [ImportedID(space: entity.index, id(row, identityPositions))] }
                for (number, positions) in spaces {
                    let value = id(row, positions)
                    if value != .null { object.ids.append(ImportedID(space: number, value)) }
                }
                for (attribute, slot, position) in attributes {
                    object.values[slot] = try value(row, position, attribute, source, session)
                }
                for (relationship, reference) in references {
                    object.destinations.append((relationship, destination(row, reference)))
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
        var columns = Columns()
        let owners = Reference(pair.owner, columns.add(pair.owner.columns), inferred)
        let members = Reference(pair.member, columns.add(pair.member.columns), inferred)
        var position: Int64 = 0
        try connection.withUncachedStatement("SELECT \(columns.list) FROM main.\(pair.table.quoted)") { row in
            while try row.step() {
                if let owner = destination(row, owners), let member = destination(row, members) {
                    try session.add(member, to: relationship, of: owner, at: position)
                }
                position += 1
                try advance()
            }
        }
    }

    // MARK: Identifiers

    /// The further spaces are numbered behind the spaces of the entities.
    private func spaceNumber(_ number: Int) -> Int { inferred.model.entities.count + number }

    /// A foreign key, with the place of its columns in a statement.
    private struct Reference {
        let positions: [Int32]
        let parent: InferredModel.EntitySource?
        /// The number of the space that the key leads to; nil for the primary identifier of the parent.
        let space: Int?

        init(_ source: InferredModel.ReferenceSource, _ positions: [Int32], _ inferred: InferredModel) {
            self.positions = positions
            let parent = inferred.source(of: source.parent)
            self.parent = parent
            space = source.parentColumns.flatMap { columns in
                parent?.spaces.first { $0.columns == columns }?.number
            }
        }
    }

    /// The identifier that a foreign key leads to; nil if a column of it is null.
    private func destination(_ row: borrowing Statement, _ reference: Reference) -> ImportedID? {
        let value = id(row, reference.positions)
        guard value != .null, let parent = reference.parent else { return nil }
        if let space = reference.space { return ImportedID(space: spaceNumber(space), value) }
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
        private(set) var names: [DatabaseName] = []
        private var positions: [DatabaseName: Int32] = [:]

        var list: String { names.map(\.quoted).joined(separator: ", ") }

        /// Adds a column if the statement does not have it. Returns its position.
        mutating func add(_ name: DatabaseName) -> Int32 {
            if let position = positions[name] { return position }
            let position = Int32(names.count)
            positions[name] = position
            names.append(name)
            return position
        }

        mutating func add(_ names: [DatabaseName]) -> [Int32] { names.map { add($0) } }
    }
}
