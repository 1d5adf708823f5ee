import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore

/// The objects of a store of Core Data or SwiftData.
struct CoreDataSource: ImportSource {
    let layout: CoreDataLayout
    let connection: Connection
    let values: CoreDataValues
    let conversions: [String: CoreDataConversion]
    let unitCount: Int64

    var needsIdentification: Bool { false }

    init(
        _ layout: CoreDataLayout,
        _ connection: Connection,
        _ values: CoreDataValues,
        _ conversions: [String: CoreDataConversion]
    ) throws {
        self.layout = layout
        self.connection = connection
        self.values = values
        self.conversions = conversions
        let tables = layout.tables.map(\.name) + layout.pairs.map(\.name)
        unitCount = try tables.reduce(0) { sum, table in
            try sum
                + connection.withUncachedStatement("SELECT count(*) FROM main.\(table.quoted)") { row in
                    try row.step() ? row.integer(at: 0) : 0
                }
        }
    }

    func hasIntegerIDs(of root: Entity) -> Bool { true }

    func read(into session: ImportSession) throws {
        for line in layout.notImported { session.note(notImported: line) }
        for (entity, property) in layout.missing where conversions["\(entity).\(property)"] == nil {
            session.note(missing: property, of: entity)
        }
        var count: Int64 = 0
        func advance() throws {
            count += 1
            if count % 256 == 0 { try session.advance(to: count) }
        }
        for table in layout.tables { try read(table, session, advance) }
        for pairs in layout.pairs { try read(pairs, session, advance) }
    }

    // MARK: Rows

    private func read(
        _ table: CoreDataLayout.EntityTable,
        _ session: ImportSession,
        _ advance: () throws -> Void
    ) throws {
        // By position: all columns are read, since a conversion may read any of them.
        let columns = table.columns
        let positions = Dictionary(
            columns.enumerated().map { ($1, Int32($0)) },
            uniquingKeysWith: { first, _ in first }
        )
        guard let key = positions["Z_PK"], let number = positions["Z_ENT"] else { return }
        let list = table.columnNames.map(\.quoted).joined(separator: ", ")
        var unknown: [Int64: Int] = [:]
        try connection.withUncachedStatement(
            "SELECT \(list) FROM main.\(table.name.quoted) ORDER BY \(quoted("Z_PK"))"
        ) { row in
            while try row.step() {
                try advance()
                guard let entity = layout.entities[row.integer(at: number)], entity.rootIndex == table.root.index else {
                    unknown[row.integer(at: number), default: 0] += 1
                    continue
                }
                try read(row, key, positions, entity, table, session)
            }
        }
        for (number, count) in unknown.sorted(by: { $0.key < $1.key }) {
            session.note(
                notImported: "\(table.name.text): \(count) rows of the entity number \(number), which the model lacks"
            )
        }
    }

    private func read(
        _ row: borrowing Statement,
        _ key: Int32,
        _ positions: [String: Int32],
        _ entity: Entity,
        _ table: CoreDataLayout.EntityTable,
        _ session: ImportSession
    ) throws {
        let id = ImportedID(space: table.root.index, .integer(row.integer(at: key)))
        var object = ImportedObject(entity)
        object.ids = [id]
        for property in entity.properties {
            switch property {
            case .attribute(let attribute):
                object.values[attribute.slot] = value(row, attribute, entity, table, positions, session)
            case .relationship(let relationship):
                guard !relationship.isToMany, let column = table.properties[property], let index = positions[column]
                else {
                    continue
                }
                let destination = destination(row, index, relationship.destination)
                object.destinations.append((relationship, destination))
            }
        }
        try session.add(object)
        for (relationship, column) in table.positions where entity.isKind(of: relationship.destination) {
            guard let index = positions[column], let inverse = relationship.inverse,
                let ownerColumn = table.properties[.relationship(inverse)], let owner = positions[ownerColumn]
            else { continue }
            if let owner = destination(row, owner, relationship.source) {
                try session.add(id, to: relationship, of: owner, at: row.integer(at: index))
            }
        }
        for (relationship, column) in table.oneWayOwners where entity.isKind(of: relationship.destination) {
            guard let index = positions[column], let owner = destination(row, index, relationship.source) else {
                continue
            }
            let position = table.positions[relationship].flatMap { positions[$0] }.map { row.integer(at: $0) }
            try session.add(id, to: relationship, of: owner, at: position ?? 0)
        }
    }

    /// The identifier in a column of keys; nil for none.
    private func destination(_ row: borrowing Statement, _ index: Int32, _ entity: Entity) -> ImportedID? {
        guard row.columnType(index) == .integer, row.integer(at: index) != 0 else { return nil }
        return ImportedID(space: layout.model.root(of: entity).index, .integer(row.integer(at: index)))
    }

    private func value(
        _ row: borrowing Statement,
        _ attribute: Attribute,
        _ entity: Entity,
        _ table: CoreDataLayout.EntityTable,
        _ positions: [String: Int32],
        _ session: ImportSession
    ) -> Value? {
        do {
            if let conversion = conversions["\(attribute.declaringEntityName).\(attribute.name)"] {
                var columns: [String: Value] = [:]
                for (name, index) in positions { columns[name] = row.value(at: index) }
                let value = try conversion(CoreDataRow(columns)) ?? .null
                guard value.isRepresentable(as: attribute.type) else {
                    throw ValueReading.Unfit(reason: "the converted value is not of type \(attribute.type.rawValue)")
                }
                return value
            }
            guard let column = table.properties[.attribute(attribute)], let index = positions[column] else {
                return nil
            }
            return try values.value(row, index, of: attribute, table.externalStorage[.attribute(attribute)] ?? .unused)
        } catch {
            let reason = (error as? ValueReading.Unfit)?.reason ?? "the conversion failed"
            session.countUnfit(attribute.name, of: entity.name, reason)
            return .null
        }
    }

    // MARK: Pairs

    private func read(
        _ pairs: CoreDataLayout.PairTable,
        _ session: ImportSession,
        _ advance: () throws -> Void
    ) throws {
        let relationship = pairs.relationship
        let columns = [pairs.owner, pairs.member, pairs.memberPosition, pairs.ownerPosition].map {
            $0.map(quoted) ?? "NULL"
        }
        let sql = "SELECT \(columns.joined(separator: ", ")) FROM main.\(pairs.name.quoted)"
        try connection.withUncachedStatement(sql) { row in
            while try row.step() {
                try advance()
                guard let owner = destination(row, 0, relationship.source),
                    let member = destination(row, 1, relationship.destination)
                else { continue }
                try session.add(member, to: relationship, of: owner, at: row.integer(at: 2))
                if let inverse = relationship.inverse, inverse !== relationship, inverse.isOrdered {
                    try session.add(owner, to: inverse, of: member, at: row.integer(at: 3))
                }
            }
        }
    }
}
