import EncryptedSQLite
import ObjectGraph

/// The columns that a fetch reads of the rows of an entity and its subentities, and their conversion to rows.
final class EntitySelection: Sendable {
    /// The columns, each with the prefix `t0.`, separated by commas.
    let columns: String
    /// The number of columns.
    let columnCount: Int32
    /// The condition on `_entity`, with the prefix `t0.`; nil if all rows of the table are of the entity's family.
    let familyCondition: String?
    /// The condition on `_entity` that excludes objects of subentities.
    let exactCondition: String?

    /// The columns of the rows of one entity.
    private final class RowLayout: Sendable {
        let entityIndex: Int
        let slotCount: Int
        let cells: [Cell]
        /// The slots of properties with columns that are not read.
        let omittedSlots: [Int]

        init(entityIndex: Int, slotCount: Int, cells: [Cell], omittedSlots: [Int]) {
            self.entityIndex = entityIndex
            self.slotCount = slotCount
            self.cells = cells
            self.omittedSlots = omittedSlots
        }
    }

    /// The type of a column. Tables are STRICT: the values have the type, or are NULL. Only a program that rewrites the
    /// schema can store other values.
    private enum Content {
        case integer, real, text, blob
        /// The primary key of a destination, which is positive.
        case key

        init(_ column: Column) {
            if case .relationship = column.property {
                self = .key
                return
            }
            switch column.storage {
            case .integer: self = .integer
            case .real: self = .real
            case .text: self = .text
            case .blob: self = .blob
            }
        }
    }

    private struct Cell: Sendable {
        let slot: Int
        let column: Int32
        let content: Content
        /// The column that is true if the value was left in the store; nil if it never is.
        let deferral: Int32?
        /// The bit of a column of reals in the row's ``VersionWord``.
        let signBit: Int?
        /// Whether NULL is reported as a missing value.
        let isRequired: Bool
        /// See ``Column/mayRefer``.
        let mayRefer: Bool
    }

    /// The root entity.
    private let root: Entity
    private let layouts: [Int64: RowLayout]
    private let onlyLayout: RowLayout?
    /// Whether some columns are not read.
    private let isPartial: Bool
    /// The length in bytes up to which a value of a deferrable column is read with its row.
    static let deferralLimit = 4096
    /// Whether large values may be left in the store.
    let mayDefer: Bool

    /// - Parameters:
    ///   - properties: The properties whose columns are read; nil for all.
    ///   - defersValues: Whether large values may be left in the store.
    init(
        _ entity: Entity,
        _ table: EntityTable,
        only properties: Set<Property>? = nil,
        defersValues: Bool = true
    ) {
        root = table.root
        isPartial = properties != nil
        var names = [#"t0."_id""#, #"t0."_version""#]
        if table.hasEntityColumn { names.append(#"t0."_entity""#) }
        var cells: [Property: Cell] = [:]
        for property in entity.family.lazy.flatMap(\.properties) where cells[property] == nil {
            guard let column = table.column(of: property), properties?.contains(property) ?? true else { continue }
            let position = Int32(names.count)
            let isDeferrable = column.isDeferrable && defersValues
            cells[property] = Cell(
                slot: property.slot,
                column: position,
                content: Content(column),
                deferral: isDeferrable ? position + 1 : nil,
                signBit: column.signBit,
                isRequired: !property.isOptional,
                mayRefer: column.mayRefer
            )
            if isDeferrable {
                let isLarge = "length(t0.\(column.name)) > \(Self.deferralLimit)"
                names += ["CASE WHEN \(isLarge) THEN NULL ELSE t0.\(column.name) END", isLarge]
            } else {
                names.append("t0.\(column.name)")
            }
        }
        mayDefer = cells.values.contains { $0.deferral != nil }
        columns = names.joined(separator: ", ")
        columnCount = Int32(names.count)
        let layouts = entity.family.map { member in
            RowLayout(
                entityIndex: member.index,
                slotCount: member.slotCount,
                cells: member.properties.compactMap { cells[$0] },
                omittedSlots: member.properties.filter { table.column(of: $0) != nil && cells[$0] == nil }.map(\.slot)
            )
        }
        onlyLayout = table.hasEntityColumn ? nil : layouts.first
        self.layouts = Dictionary(
            zip(entity.family, layouts).flatMap { member, layout in
                // An abstract entity has no rows of its own.
                member.isAbstract ? [] : table.codes(of: [member]).map { ($0, layout) }
            },
            uniquingKeysWith: { first, _ in first }
        )
        familyCondition = entity.isRoot ? nil : "t0.\"_entity\" IN (\(table.codeList(of: entity.family)))"
        let codes = table.codes(of: [entity])
        let exact = codes.count == 1 ? "= \(codes[0])" : "IN (\(table.codeList(of: [entity])))"
        exactCondition = table.hasEntityColumn ? "t0.\"_entity\" \(exact)" : nil
    }

    func condition(includesSubentities: Bool) -> String? {
        includesSubentities ? familyCondition : exactCondition
    }

    /// Copies the remaining rows of the statement.
    ///
    /// - Parameters:
    ///   - order: The order of the statement's rows.
    ///   - largeValues: The table to which values may refer; nil if the file has none.
    ///   - observer: Counts the rows.
    ///   - isWanted: Whether to copy the statement's current row.
    /// - Throws: ``SealedStoreError/damagedRow(entity:property:)`` if a row has a key that is not positive, is of an
    ///   unknown entity, or has a value of another type than its column; `DatabaseError.damaged` if the rows are not in
    ///   the order of the statement; errors of a step.
    @inline(__always)
    func readAll(
        _ statement: borrowing Statement,
        into rows: inout RowBatchBuilder,
        order: KeyOrder,
        _ largeValues: LargeValueTable?,
        observer: RowObserver? = nil,
        where isWanted: (borrowing Statement) throws -> Bool = { _ in true }
    ) throws {
        var walk = KeyWalk(order)
        if let onlyLayout, observer == nil, !isPartial {
            while try statement.step() {
                if try isWanted(statement) { try read(statement, onlyLayout, &walk, largeValues, into: &rows) }
            }
            return
        }
        while try statement.step() {
            guard try isWanted(statement) else { continue }
            guard let layout = onlyLayout ?? layouts[statement.integer(at: 2)] else {
                throw damage("_entity")
            }
            try read(statement, layout, &walk, largeValues, into: &rows)
            for slot in layout.omittedSlots { rows.setOmitted(at: slot) }
            observer?.didReadRow()
        }
    }

    /// The error for a row with a value that the store never writes.
    @inline(never)
    private func damage(_ property: String) -> SealedStoreError {
        .damagedRow(entity: root.name, property: property)
    }

    @inline(never)
    private func damage(at slot: Int, of layout: RowLayout) -> SealedStoreError {
        let entity = root.family.first { $0.index == layout.entityIndex } ?? root
        return .damagedRow(entity: entity.name, property: entity.properties[slot].name)
    }

    /// Sets a value to which a row refers, unless it is read later.
    @inline(never)
    private func setValue(
        at reference: LargeValueReference,
        in largeValues: LargeValueTable,
        _ cell: Cell,
        _ layout: RowLayout,
        into rows: inout RowBatchBuilder
    ) throws {
        guard cell.deferral == nil else { return rows.setDeferredBlob(at: cell.slot, isStoredApart: true) }
        let isFound: Void? = try largeValues.withValue(at: reference) { rows.set(blob: $0, at: cell.slot) }
        guard isFound != nil else { throw damage(at: cell.slot, of: layout) }
    }

    @inline(__always)
    private func read(
        _ statement: borrowing Statement,
        _ layout: RowLayout,
        _ walk: inout KeyWalk,
        _ largeValues: LargeValueTable?,
        into rows: inout RowBatchBuilder
    ) throws {
        let word = statement.integer(at: 1)
        let key = statement.integer(at: 0)
        guard key.isPrimaryKey else { throw damage("_id") }
        try walk.visit(key, of: statement)
        rows.begin(
            key: key,
            version: UInt32(truncatingIfNeeded: word),
            entity: layout.entityIndex,
            slotCount: layout.slotCount
        )
        // The value is read before its type: only a zero may be NULL, a text or a blob, and only an integer at the end
        // of the range may be a real beyond it. So most columns cost one call; a second call for each value would take a
        // fifth of the time of a fetch.
        for cell in layout.cells {
            switch cell.content {
            case .key:
                let key = statement.integer(at: cell.column)
                if key.isPrimaryKey {
                    rows.set(integer: key, at: cell.slot)
                } else if !statement.isNull(at: cell.column) {
                    throw damage(at: cell.slot, of: layout)
                } else if cell.isRequired {
                    rows.reportMissingValue(at: cell.slot)
                }
            case .integer:
                let value = statement.integer(at: cell.column)
                if value != 0 && value != .max && value != .min {
                    rows.set(integer: value, at: cell.slot)
                } else {
                    switch statement.columnType(cell.column) {
                    case .integer: rows.set(integer: value, at: cell.slot)
                    case .null: if cell.isRequired { rows.reportMissingValue(at: cell.slot) }
                    case .real, .text, .blob: throw damage(at: cell.slot, of: layout)
                    }
                }
            case .real:
                let value = statement.real(at: cell.column)
                if value != 0 {
                    rows.set(real: value, at: cell.slot)
                } else {
                    switch statement.columnType(cell.column) {
                    case .real, .integer:
                        let isNegative = cell.signBit.map { VersionWord.isNegative(word, $0) } ?? false
                        rows.set(real: isNegative ? -0.0 : value, at: cell.slot)
                    case .null: if cell.isRequired { rows.reportMissingValue(at: cell.slot) }
                    case .text, .blob: throw damage(at: cell.slot, of: layout)
                    }
                }
            case .text:
                let bytes = statement.text(at: cell.column)
                if bytes.baseAddress != nil {
                    rows.set(text: bytes, at: cell.slot)
                } else if cell.isRequired {
                    rows.reportMissingValue(at: cell.slot)
                }
            case .blob:
                let bytes = statement.blob(at: cell.column)
                if bytes.baseAddress != nil || !statement.isNull(at: cell.column) {
                    if let largeValues, cell.mayRefer, let reference = LargeValueReference(bytes) {
                        try setValue(at: reference, in: largeValues, cell, layout, into: &rows)
                    } else {
                        rows.set(blob: bytes, at: cell.slot)
                    }
                } else if let deferral = cell.deferral, statement.integer(at: deferral) != 0 {
                    rows.setDeferredBlob(at: cell.slot)
                } else if cell.isRequired {
                    rows.reportMissingValue(at: cell.slot)
                }
            }
        }
    }
}
