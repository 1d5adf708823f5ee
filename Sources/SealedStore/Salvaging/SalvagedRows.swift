import EncryptedSQLite
import Foundation
import ObjectGraph

/// Writes the recovered rows of one root entity into the new store.
struct SalvagedRows {
    private let table: EntityTable
    private let source: DamagedStore.Table
    private let schema: StoreSchema
    private let statement: String
    /// The entities by their numbers in the file, as far as they are known.
    private let entitiesByNumber: [Int64: Entity]
    /// Whether the schema has the numbers of entities and the sign bits of the file.
    private let hasKnownNames: Bool
    /// The columns that are written, with the places of their values in a row; nil for a column that the file does not
    /// have.
    private let columns: [(column: Column?, name: String, place: Int?)]
    private let entityPlace: Int?
    private let versionPlace: Int?

    /// The number of rows that were read and not written, because a required value is lost or the row is invalid.
    private(set) var rejectedCount = 0
    private(set) var writtenCount = 0
    /// The largest key of a row that was written; 0 if there is none.
    private(set) var largestKey: Int64 = 0
    /// The number of lost values, by entity and attribute.
    private(set) var lostValues: [String: [String: Int]] = [:]
    /// The number of lost keys, by entity and relationship.
    private(set) var cutReferences: [String: [String: Int]] = [:]
    private(set) var mixedTexts = MixedTexts()

    /// - Parameter known: The entities by their numbers in the file, if the recorded numbers are lost.
    init(
        _ table: EntityTable,
        from source: DamagedStore.Table,
        _ schema: StoreSchema,
        entitiesByNumber known: [Int64: Entity]? = nil
    ) {
        self.table = table
        self.source = source
        self.schema = schema
        hasKnownNames = known == nil
        var columns: [(column: Column?, name: String, place: Int?)] = table.columns.map {
            ($0, $0.name, source.place(of: $0.name))
        }
        columns += table.positionColumns.values.sorted().map { (nil, $0, source.place(of: $0)) }
        self.columns = columns
        entityPlace = source.place(of: #""_entity""#)
        versionPlace = source.place(of: #""_version""#)
        entitiesByNumber =
            known ?? Dictionary(table.codes.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var names = [#""_id""#, #""_version""#]
        if table.hasEntityColumn { names.append(#""_entity""#) }
        names += columns.map(\.name)
        statement = """
            INSERT OR IGNORE INTO \(table.name) (\(names.joined(separator: ", "))) VALUES (\(SQL.parameters(names.count)))
            """
    }

    /// Whether the values of a row can belong to the table, by their number and types.
    ///
    /// The less is known of a table, the more rows it may hold, so that no row of it is taken for a row of another
    /// table.
    func mayHold(_ values: [StoredValue]) -> Bool {
        guard source.isCertain else { return values.first == .null }
        guard values.count <= source.columns.count, values.count > (versionPlace ?? 0), values.first == .null else {
            return false
        }
        if let versionPlace, !values[versionPlace].isInteger { return false }
        if let entityPlace, entityPlace < values.count, table.hasEntityColumn {
            guard case .integer(let number) = values[entityPlace],
                entitiesByNumber[number] != nil || !hasKnownNames
            else { return false }
        }
        return columns.allSatisfy { column, _, place in
            guard let place, place < values.count else { return true }
            switch (values[place], column?.storage ?? .integer) {
            case (.null, _), (.lost, _), (.integer, .integer), (.integer, .real), (.real, .real), (.text, .text),
                (.blob, .blob):
                return true
            default: return false
            }
        }
    }

    /// Whether the values of a row that the table may hold have a form that rows of other tables do not have: rows may
    /// have fewer values than the table has columns, and all tables of root entities begin with a key and a version.
    func isDistinctive(_ values: [StoredValue]) -> Bool {
        !source.isCertain || values.count == source.columns.count && values.count > 2
    }

    /// Counts lost large values of rows that were written. Rows without a required large value are removed.
    mutating func noteLoss(of count: Int, _ attribute: Attribute, in entity: Entity) {
        guard count > 0 else { return }
        if attribute.isOptional {
            lostValues[entity.name, default: [:]][attribute.name, default: 0] += count
        } else {
            rejectedCount += count
            writtenCount -= count
        }
    }

    /// Writes a row, or counts it as rejected.
    mutating func write(_ key: Int64, _ values: [StoredValue], on connection: Connection) throws {
        func value(_ place: Int?) -> StoredValue? { place.flatMap { $0 < values.count ? values[$0] : nil } }
        var entity = table.root
        if table.hasEntityColumn {
            guard let number = source.entityNumber(of: values), let found = entitiesByNumber[number] else {
                rejectedCount += 1
                return
            }
            entity = found
        }
        guard source.isCertain, key.isPrimaryKey, !entity.isAbstract, mayHold(values) else {
            rejectedCount += 1
            return
        }
        var parameters: [Value] = [.integer(key), .integer(1)]
        if case .integer(let version)? = value(versionPlace) {
            parameters[1] = .integer(hasKnownNames ? version : version & VersionWord.versionMask)
        }
        if table.hasEntityColumn { parameters.append(.integer(table.codes[entity] ?? 0)) }
        var lost: [Property] = []
        for (column, name, place) in columns {
            let property = column.flatMap { $0.property.isDeclared(by: entity) ? $0.property : nil }
            let parameter = Self.parameter(value(place), default: source.defaults[name] ?? .null, column?.storage)
            if case .lost? = value(place), let property { lost.append(property) }
            if case .null = parameter, let property, property.isRequired(afterLosing: lost) {
                rejectedCount += 1
                return
            }
            parameters.append(parameter)
            if case .text(let text) = parameter, let property, !text.isComposedText {
                mixedTexts.note(property, of: entity, in: schema)
            }
        }
        try connection.withStatement(statement) { statement in
            try statement.bind(parameters)
            try statement.run()
        }
        // Another row has the same key or unique value.
        guard connection.changes > 0 else {
            rejectedCount += 1
            return
        }
        writtenCount += 1
        largestKey = max(largestKey, key)
        for property in lost {
            if case .relationship = property {
                cutReferences[entity.name, default: [:]][property.name, default: 0] += 1
            } else {
                lostValues[entity.name, default: [:]][property.name, default: 0] += 1
            }
        }
    }

    private static func parameter(
        _ value: StoredValue?,
        default defaultValue: Value,
        _ storage: AttributeType.Storage?
    ) -> Value {
        switch value {
        // The row is older than the column.
        case nil: defaultValue
        case .null?, .lost?: .null
        // SQLite writes a real without a fraction as an integer.
        case .integer(let integer)?: storage == .real ? .real(Double(integer)) : .integer(integer)
        case .real(let real)?: .real(real)
        case .text(let bytes)?: .text(String(decoding: bytes, as: UTF8.self))
        case .blob(let bytes)?: .blob(Data(bytes))
        }
    }
}

extension Property {
    /// Whether an object cannot be recovered without a value: an attribute without which it is invalid, or a required
    /// reference that was lost. A required reference may be nil in a sound store.
    fileprivate func isRequired(afterLosing lost: [Property]) -> Bool {
        switch self {
        case .attribute(let attribute): !attribute.isOptional
        case .relationship(let relationship): !relationship.isOptional && lost.contains(self)
        }
    }
}

extension String {
    /// Whether the text is in normalization form C.
    fileprivate var isComposedText: Bool {
        var text = self
        return text.withUTF8 { TextForms.isComposed(UnsafeRawBufferPointer($0)) }
    }
}

extension StoredValue {
    fileprivate var isInteger: Bool { if case .integer = self { true } else { false } }
}
