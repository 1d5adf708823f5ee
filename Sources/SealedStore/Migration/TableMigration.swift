import ObjectGraph

/// The migration of the rows of old tables to the table of a root entity.
struct TableMigration {
    let root: Entity
    let table: EntityTable
    /// The old tables. The rows of the first old table keep their keys.
    let sources: [RowSource]
    /// The columns after `_id`, `_entity` and `_version`.
    private(set) var columns: [MigratedColumn] = []
    /// The new `_version` for the rows of each source.
    private(set) var versions: [String] = []
    /// The columns with texts that may not be in normalization form C.
    private(set) var mixedColumns: Set<String> = []
    /// Whether each row keeps its `_version`.
    private(set) var keepsVersions = true

    /// A column of the new table.
    struct MigratedColumn {
        /// The name of the column, quoted.
        let name: String
        /// The definition of the column, which begins with the name.
        let definition: String
        /// The value of the column in the rows of each source.
        var expressions: [ColumnExpression]
        /// Whether all rows of the table have the property.
        let isCommon: Bool
        /// The property that the column stores; nil for a column of positions.
        let property: Property?
    }

    init(_ root: Entity, _ sources: [RowSource], _ context: MigrationContext) {
        self.root = root
        self.sources = sources
        table = context.newSchema.table(of: root)
        var masks = sources.map { _ in (kept: 0 as Int64, terms: [String]()) }
        for column in table.columns {
            let expressions = sources.enumerated().map { index, source in
                let cells = source.members.map { cell(of: column, $0, source, context) }
                for (cell, member) in zip(cells, source.members) {
                    guard let cell else { continue }
                    if cell.isMixed { mixedColumns.insert(FileConditions.name(of: column, in: table)) }
                    add(cell.sign, of: member.old, column, source, to: &masks[index])
                }
                return Self.combined(cells.map { $0?.expression }, source)
            }
            columns.append(
                MigratedColumn(
                    name: column.name,
                    definition: SchemaStatements.definition(of: column),
                    expressions: expressions,
                    isCommon: column.property.declaringEntityName == root.name,
                    property: column.property
                )
            )
        }
        for (relationship, name) in table.positionColumns.sorted(by: { $0.value < $1.value }) {
            guard let toOne = relationship.inverse else { continue }
            let pairs = context.pairs(of: toOne)
            let expressions = sources.map { source in
                let values = source.members.map { old, new in
                    new.isKind(of: toOne.source)
                        ? pairs.ownerPosition(for: old, ownerTable: source.oldTable.name) : nil
                }
                return Self.combined(values, source)
            }
            columns.append(
                MigratedColumn(
                    name: name,
                    definition: SchemaStatements.positionDefinition(of: name),
                    expressions: expressions,
                    isCommon: false,
                    property: nil
                )
            )
        }
        versions = masks.map { mask in
            let kept = "\(RowSource.alias).\"_version\" & \(VersionWord.versionMask | mask.kept)"
            return (["(\(kept))"] + mask.terms).joined(separator: " | ")
        }
        keepsVersions = masks.allSatisfy(\.terms.isEmpty)
    }

    // MARK: Values

    /// The value of a new column in the rows of one old entity.
    private struct Cell {
        var expression: ColumnExpression
        var sign = Sign.none
        var isMixed = false
    }

    /// The place that records whether a value is negative zero.
    private enum Sign {
        case none
        /// The bit of the old version word.
        case bit(Int)
        /// A condition on the converted value.
        case condition(String)
    }

    /// - Returns: Nil if rows of the entity do not have the property.
    private func cell(
        of column: Column,
        _ member: (old: Entity, new: Entity),
        _ source: RowSource,
        _ context: MigrationContext
    ) -> Cell? {
        guard member.new.propertiesByName[column.property.name] == column.property else { return nil }
        switch column.property {
        case .relationship(let relationship):
            let pairs = context.pairs(of: relationship)
            return Cell(expression: pairs.member(for: member.old, ownerTable: source.oldTable.name))
        case .attribute(let attribute):
            let fill = context.defaultValue(of: attribute)
            guard case .attribute(let old)? = context.mapping.old(of: column.property, in: member.new),
                let oldColumn = source.oldTable.column(of: .attribute(old))
            else {
                return filled(with: fill ?? .null)
            }
            // No row has a value of a type that does not convert, or the migration is refused.
            guard let conversion = AttributeConversion(from: old.type, to: attribute.type) else {
                guard !attribute.isOptional, let fill else { return Cell(expression: .null) }
                return filled(with: fill)
            }
            var cell = Cell(expression: .column(oldColumn.name))
            let stored = "\(RowSource.alias).\(oldColumn.name)"
            let expands = oldColumn.mayRefer && context.old.hasLargeValues
            let value = expands ? LargeValueReference.value(of: stored) : stored
            let negativeZero = oldColumn.signBit.map {
                "\(RowSource.alias).\"_version\" & \(VersionWord.mask(of: $0)) <> 0"
            }
            if !conversion.keepsStoredForm {
                cell.expression = .computed(conversion.expression(value, negativeZero: negativeZero))
            } else if oldColumn.mayRefer, !column.mayRefer, context.old.hasLargeValues {
                cell.expression = .computed(value)
            }
            if !attribute.isOptional, old.isOptional, let fill, fill != .null {
                cell.expression = .computed("coalesce(\(cell.expression.sql), \(fill.sqlExpression))")
                cell.isMixed = fill.isMixedText
            }
            if attribute.type == .string {
                cell.isMixed =
                    cell.isMixed || [.data, .composite, .url].contains(old.type)
                    || context.old.columnsOfMixedForms.contains(FileConditions.name(of: oldColumn, in: source.oldTable))
            }
            if attribute.type.storage == .real {
                if let bit = oldColumn.signBit { cell.sign = .bit(bit) }
                if conversion.mayMakeNegativeZero {
                    let name = AttributeConversion.signFunctionName
                    cell.sign = .condition(
                        "\(name)(\(value), '\(old.type.rawValue)', '\(attribute.type.rawValue)') = 1"
                    )
                }
                if !attribute.isOptional, old.isOptional, fill?.isNegativeZero ?? false {
                    let isMissing = "\(value) IS NULL"
                    switch cell.sign {
                    case .none: cell.sign = .condition(isMissing)
                    case .bit: cell.sign = .condition("(\(negativeZero ?? "0") OR \(isMissing))")
                    case .condition(let sql): cell.sign = .condition("(\(sql) OR \(isMissing))")
                    }
                }
            }
            return cell
        }
    }

    /// A cell with the same value in all rows.
    private func filled(with value: Value) -> Cell {
        Cell(
            expression: .constant(value),
            sign: value.isNegativeZero ? .condition("1") : .none,
            isMixed: value.isMixedText
        )
    }

    private func add(
        _ sign: Sign,
        of member: Entity,
        _ column: Column,
        _ source: RowSource,
        to masks: inout (kept: Int64, terms: [String])
    ) {
        guard let newBit = column.signBit else { return }
        let new = VersionWord.mask(of: newBit)
        var condition: String
        switch sign {
        case .none: return
        case .bit(newBit): return masks.kept |= new
        case .bit(let oldBit): condition = "\(RowSource.alias).\"_version\" & \(VersionWord.mask(of: oldBit)) <> 0"
        case .condition(let sql): condition = sql
        }
        condition = (source.conditions([member]) + [condition]).joined(separator: " AND ")
        masks.terms.append("CASE WHEN \(condition) THEN \(new) ELSE 0 END")
    }

    /// The expression of a new column for all rows of a source.
    ///
    /// - Parameter expressions: The expressions for the rows of each member; nil for a member without the property.
    private static func combined(_ expressions: [ColumnExpression?], _ source: RowSource) -> ColumnExpression {
        var groups: [(expression: ColumnExpression, members: [Entity])] = []
        for (expression, member) in zip(expressions, source.members) {
            guard let expression, expression != .null else { continue }
            if let known = groups.firstIndex(where: { $0.expression == expression }) {
                groups[known].members.append(member.old)
            } else {
                groups.append((expression, [member.old]))
            }
        }
        guard let first = groups.first else { return .null }
        if groups.count == 1 {
            if first.members.count == source.members.count { return first.expression }
            // In rows of entities without the old property, its column is NULL.
            if case .column(let name) = first.expression,
                let column = source.oldTable.columns.first(where: { $0.name == name }),
                source.members.allSatisfy({ member in
                    first.members.contains(member.old)
                        || member.old.propertiesByName[column.property.name] != column.property
                })
            {
                return first.expression
            }
        }
        let cases = groups.map { group in
            "WHEN \(RowSource.condition(group.members, source.oldTable, RowSource.alias)) THEN \(group.expression.sql)"
        }
        return .computed("CASE \(cases.joined(separator: " ")) END")
    }

    /// The columns of the new table that get the values of a source's columns, by the names of the source's columns,
    /// all quoted.
    func newColumns(of source: RowSource, _ context: MigrationContext) -> [String: String] {
        var names = [#""_id""#: #""_id""#, #""_version""#: #""_version""#]
        if table.hasEntityColumn, source.oldTable.hasEntityColumn { names[#""_entity""#] = #""_entity""# }
        for column in columns {
            guard let property = column.property else { continue }
            let old = source.members.lazy.compactMap { member in
                member.new.propertiesByName[property.name] == property
                    ? context.mapping.old(of: property, in: member.new) : nil
            }.first
            if let oldColumn = old.flatMap(source.oldTable.column) { names[oldColumn.name] = column.name }
        }
        return names
    }

    // MARK: In place

    /// The changes that turn the old table into the new one without rewriting its rows.
    struct Alteration {
        let oldTable: EntityTable
        /// The renamed columns, with old and new names, quoted.
        var renames: [(old: String, new: String)] = []
        /// The definitions of the additional columns.
        var additions: [(name: String, definition: String)] = []
    }

    /// The alteration; nil if rows must be rewritten.
    ///
    /// - Parameter oldDefinition: The statement of the old table in the file.
    func alteration(_ oldDefinition: TableDefinition?) -> Alteration? {
        guard let source = sources.first, sources.count == 1, source.keyOffset == 0, !source.isPartial,
            !source.members.isEmpty, keepsVersions,
            let oldDefinition
        else { return nil }
        let old = source.oldTable
        var unused = Set(old.columns.map(\.name) + old.positionColumns.values)
        let storages = Dictionary(uniqueKeysWithValues: old.columns.map { ($0.name, $0.storage) })
        var alteration = Alteration(oldTable: old)
        guard old.hasEntityColumn == table.hasEntityColumn || table.hasEntityColumn else { return nil }
        if table.hasEntityColumn, !old.hasEntityColumn {
            guard let code = source.members.first.flatMap({ table.codes[$0.new] }) else { return nil }
            alteration.additions.append((#""_entity""#, "\(SchemaStatements.entityColumn) DEFAULT \(code)"))
        }
        for column in columns {
            switch column.expressions[0] {
            case .column(let name):
                guard unused.remove(name) != nil, column.isCommon || !oldDefinition.hasDefault(name) else { return nil }
                if let storage = storages[name],
                    column.definition != "\(column.name) \(storage.rawValue.uppercased())"
                {
                    return nil
                }
                if name != column.name { alteration.renames.append((name, column.name)) }
            case .constant(.null): alteration.additions.append((column.name, column.definition))
            case .constant(let value):
                guard column.isCommon, let literal = value.sqlLiteral else { return nil }
                alteration.additions.append((column.name, "\(column.definition) DEFAULT \(literal)"))
            case .computed: return nil
            }
        }
        return unused.isEmpty ? alteration : nil
    }

    // MARK: Rebuilding

    /// The statements that copy the rows into a table.
    ///
    /// - Parameter name: The name of the new table, quoted.
    func copies(into name: String) -> [RowCopy] {
        sources.enumerated().map { index, source in
            var targets = [#""_id""#]
            var values = [RowSource.key(#"s."_id""#, plus: source.keyOffset)]
            if table.hasEntityColumn {
                targets.append(#""_entity""#)
                values.append(entityCode(in: source))
            }
            targets.append(#""_version""#)
            values.append(versions[index])
            for column in columns where column.expressions[index] != .null {
                targets.append(column.name)
                values.append(column.expressions[index].sql)
            }
            return RowCopy(
                insertion: """
                    INSERT INTO \(name) (\(targets.joined(separator: ", "))) \
                    SELECT \(values.joined(separator: ", ")) FROM \(source.oldTable.name) AS s
                    """,
                conditions: source.conditions(source.members.map(\.old)),
                table: source.oldTable.name,
                alias: RowSource.alias,
                key: #""_id""#
            )
        }
    }

    /// The expression for the number of the entity in the new table.
    func entityCode(in source: RowSource) -> String {
        if source.oldTable.hasEntityColumn {
            let moved = source.members.compactMap { old, new -> String? in
                guard let before = source.oldTable.codes[old], let after = table.codes[new], before != after else {
                    return nil
                }
                return "WHEN \(before) THEN \(after)"
            }
            let code = #"s."_entity""#
            return moved.isEmpty ? code : "CASE \(code) \(moved.joined(separator: " ")) ELSE \(code) END"
        }
        return source.members.first.flatMap { table.codes[$0.new] }.map(String.init) ?? "NULL"
    }
}

extension Value {
    fileprivate var isNegativeZero: Bool {
        if case .real(let real) = self { real.bitPattern == (-0.0).bitPattern } else { false }
    }

    /// Whether this is a text that is not in normalization form C.
    fileprivate var isMixedText: Bool {
        guard case .text(var text) = self else { return false }
        return text.withUTF8 { !TextForms.isComposed(UnsafeRawBufferPointer($0)) }
    }
}
