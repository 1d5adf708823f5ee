import EncryptedSQLite
import Foundation
import ObjectGraph

/// Infers the model of a database, see ``InferredModel``.
struct ModelInference {
    private let structure: DatabaseStructure
    private let options: ImportOptions
    private let interpretations: [DatabaseName: ColumnInterpretation]
    private(set) var entities: [InferredModel.EntitySource] = []
    private(set) var pairs: [InferredModel.PairSource] = []
    private(set) var notes: [String] = []
    /// The values of the columns, by table and column.
    private var contents: [DatabaseName: [DatabaseName: ColumnContent]] = [:]
    private var declarations: [EntityDescription] = []
    private var propertyNames: [PropertyNames] = []

    /// The interpretations that no attribute has used, with the names that the program gave.
    private var unusedInterpretations: [DatabaseName: String] = [:]

    init(
        _ structure: DatabaseStructure,
        _ options: ImportOptions,
        _ interpretations: [String: ColumnInterpretation]
    ) {
        self.structure = structure
        self.options = options
        self.interpretations = Dictionary(
            interpretations.map { (DatabaseName($0), $1) },
            uniquingKeysWith: { first, _ in first }
        )
        unusedInterpretations = Dictionary(
            interpretations.keys.map { (DatabaseName($0), $0) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    // MARK: Values

    /// Counts the storage classes of a table's values. Returns the number of rows.
    mutating func count(
        _ table: DatabaseStructure.Table,
        _ connection: Connection,
        _ progress: Progress?
    ) throws -> Int {
        let columns = table.columns.filter { !$0.isGenerated }
        guard !columns.isEmpty else { return 0 }
        var counts = Array(repeating: ColumnContent(), count: columns.count)
        var rows = 0
        let names = columns.map(\.name.quoted).joined(separator: ", ")
        try connection.withUncachedStatement("SELECT \(names) FROM main.\(table.name.quoted)") { row in
            while try row.step() {
                for index in counts.indices { counts[index].count(row, Int32(index)) }
                rows += 1
                if rows % 1024 == 0, progress?.isCancelled ?? false { throw CancellationError() }
            }
        }
        contents[table.name] = Dictionary(uniqueKeysWithValues: zip(columns.map(\.name), counts))
        return rows
    }

    private func content(_ table: DatabaseStructure.Table, _ column: DatabaseName) -> ColumnContent {
        contents[table.name]?[column] ?? ColumnContent()
    }

    // MARK: The model

    mutating func model() throws -> ManagedObjectModel {
        var names = PropertyNames()
        let pairTables = structure.tables.filter(isPairTable)
        for table in structure.tables where !pairTables.contains(where: { $0.name == table.name }) {
            var source = InferredModel.EntitySource(table: table)
            source.name = names.add(table.name.text)
            entities.append(source)
            declarations.append(EntityDescription(source.name))
            propertyNames.append(PropertyNames())
        }
        for index in entities.indices { addAttributes(of: index) }
        guard unusedInterpretations.isEmpty else {
            throw TransferError.unusedInterpretations(unusedInterpretations.values.sorted())
        }
        // Before the inverses, which can have any name.
        var referenceNames: [[String]] = []
        for index in entities.indices { referenceNames.append(nameReferences(of: index)) }
        for index in entities.indices { addReferences(of: index, names: referenceNames[index]) }
        for table in pairTables { addPairs(table) }
        for index in entities.indices { addIndexes(of: index) }
        return try ManagedObjectModel(entities: declarations)
    }

    private func entityIndex(_ table: DatabaseName) -> Int? { entities.firstIndex { $0.table.name == table } }

    /// Whether a table has two foreign keys of one column, no other column, and no pair twice.
    private func isPairTable(_ table: DatabaseStructure.Table) -> Bool {
        let keys = table.foreignKeys
        guard keys.count == 2, keys.allSatisfy({ $0.columns.count == 1 && structure.table($0.parent) != nil }) else {
            return false
        }
        let columns = Set(keys.flatMap(\.columns))
        let others = table.columns.filter { !columns.contains($0.name) }
        let isReferenced = structure.tables.contains { other in
            other.foreignKeys.contains { $0.parent == table.name }
        }
        // A column that only numbers the rows holds no data.
        guard columns.count == 2, !isReferenced, others.allSatisfy({ $0.name == table.rowIDColumn?.name }) else {
            return false
        }
        let isUnique = table.indexes.contains { $0.isUnique && Set($0.columns) == columns }
        return isUnique && keys.allSatisfy { content(table, $0.columns[0]).nulls == 0 }
    }

    /// The foreign keys of a table that lead to an entity.
    private func references(_ table: DatabaseStructure.Table) -> [DatabaseStructure.ForeignKey] {
        table.foreignKeys.filter { key in
            guard let parent = entityIndex(key.parent), key.columns.allSatisfy({ table.column($0) != nil }) else {
                return false
            }
            let columns = key.parentColumns ?? entities[parent].table.primaryKey.map(\.name)
            return columns.count == key.columns.count
                && columns.allSatisfy { entities[parent].table.column($0)?.isGenerated == false }
        }
    }

    private mutating func addAttributes(of index: Int) {
        let table = entities[index].table
        let replaced = Set(references(table).filter { $0.columns.count == 1 }.flatMap(\.columns))
        for column in table.columns where !column.isGenerated && !replaced.contains(column.name) {
            let content = content(table, column.name)
            let place = DatabaseName("\(table.name.text).\(column.name.text)")
            let interpretation = interpretations[place]
            unusedInterpretations[place] = nil
            let name = propertyNames[index].add(column.name.text)
            let type = interpretation?.type ?? content.type(declaredAs: column.declaredType)
            if content.isMixed, interpretation == nil {
                notes.append("\(place.text): values of several types, imported as \(type.rawValue)")
            }
            let isRequired = (column.isNotNull || column.primaryKeyPosition > 0) && content.nulls == 0
            declarations[index].attributes.append(
                AttributeDescription(name, type, isOptional: !isRequired, allowsExternalStorage: type == .data)
            )
            entities[index].attributes.append(
                InferredModel.AttributeSource(
                    column: column.name,
                    name: name,
                    type: type,
                    interpretation: interpretation
                )
            )
        }
    }

    /// The names of the relationships of an entity's foreign keys.
    private mutating func nameReferences(of index: Int) -> [String] {
        references(entities[index].table).map { key in
            let parent = entityIndex(key.parent).map { entities[$0].name } ?? key.parent.text
            return propertyNames[index].add(
                key.columns.count == 1
                    ? PropertyNames.relationship(ofColumn: key.columns[0].text) : PropertyNames.lowerFirst(parent)
            )
        }
    }

    private mutating func addReferences(of index: Int, names: [String]) {
        let table = entities[index].table
        for (key, name) in zip(references(table), names) {
            guard let parent = entityIndex(key.parent) else { continue }
            let isUnique = table.indexes.contains { $0.isUnique && Set($0.columns) == Set(key.columns) }
            let child = PropertyNames.lowerFirst(entities[index].name)
            let isRepeated = references(table).filter { entityIndex($0.parent) == parent }.count > 1 || parent == index
            let inverse = propertyNames[parent].add(isRepeated ? "\(child)_\(name)" : child)
            let isRequired = key.columns.allSatisfy { column in
                (table.column(column)?.isNotNull ?? false) && content(table, column).nulls == 0
            }
            declarations[index].relationships.append(
                RelationshipDescription(
                    name,
                    to: entities[parent].name,
                    .one,
                    inverse: inverse,
                    isOptional: !isRequired || options.unfitContent == .omit
                )
            )
            declarations[parent].relationships.append(
                RelationshipDescription(
                    inverse,
                    to: entities[index].name,
                    isUnique ? .one : .many,
                    inverse: name,
                    deleteRule: Self.deleteRule(key.deletion)
                )
            )
            entities[index].references.append(
                InferredModel.ReferenceSource(
                    columns: key.columns,
                    name: name,
                    parent: entities[parent].name,
                    parentColumns: space(of: key, parent)
                )
            )
        }
    }

    private static func deleteRule(_ action: String) -> RelationshipDescription.DeleteRule {
        switch action.uppercased() {
        case "CASCADE": .cascade
        case "RESTRICT": .deny
        default: .nullify
        }
    }

    /// The columns that a foreign key leads to; nil for the primary identifier of the parent.
    private mutating func space(of key: DatabaseStructure.ForeignKey, _ parent: Int) -> [DatabaseName]? {
        let table = entities[parent].table
        let primary = table.primaryKey.map(\.name)
        let columns = key.parentColumns ?? primary
        let isRowID = columns == [table.rowIDColumn?.name]
        if isRowID || !table.hasRowID && columns == primary { return nil }
        if !entities[parent].spaces.contains(where: { $0.columns == columns }) {
            let number = entities.reduce(0) { $0 + $1.spaces.count }
            entities[parent].spaces.append((columns, number))
        }
        return columns
    }

    private mutating func addPairs(_ table: DatabaseStructure.Table) {
        let keys = table.foreignKeys
        guard let first = entityIndex(keys[0].parent), let second = entityIndex(keys[1].parent) else { return }
        let (ownerName, memberName) = (
            PropertyNames.relationship(ofColumn: keys[1].columns[0].text),
            PropertyNames.relationship(ofColumn: keys[0].columns[0].text)
        )
        let name = propertyNames[first].add(
            first == second ? ownerName : PropertyNames.lowerFirst(entities[second].name)
        )
        let inverse = propertyNames[second].add(
            first == second ? memberName : PropertyNames.lowerFirst(entities[first].name)
        )
        declarations[first].relationships.append(
            RelationshipDescription(name, to: entities[second].name, .many, inverse: inverse)
        )
        declarations[second].relationships.append(
            RelationshipDescription(inverse, to: entities[first].name, .many, inverse: name)
        )
        let references = zip(keys, [first, second]).map { key, parent in
            InferredModel.ReferenceSource(
                columns: key.columns,
                name: name,
                parent: entities[parent].name,
                parentColumns: space(of: key, parent)
            )
        }
        pairs.append(
            InferredModel.PairSource(table: table.name, owner: references[0], member: references[1], relationship: name)
        )
    }

    private mutating func addIndexes(of index: Int) {
        let source = entities[index]
        for declared in source.table.indexes {
            let names = declared.columns.map { column -> String? in
                let attribute = source.attributes.first { $0.column == column }?.name
                return attribute ?? source.references.first { $0.columns == [column] }?.name
            }
            let properties = names.compactMap(\.self)
            guard properties.count == names.count, Set(properties).count == names.count else { continue }
            // Different values can have the same text.
            let isMixed = declared.columns.contains { content(source.table, $0).isMixed }
            let isReference = source.references.contains { [$0.name] == properties }
            if declared.isUnique, !isMixed, !isReference {
                if !declarations[index].uniquenessConstraints.contains(properties) {
                    declarations[index].uniquenessConstraints.append(properties)
                }
            } else if !declared.isUnique, !isReference {
                let description = FetchIndexDescription(properties)
                if !declarations[index].indexes.contains(description) {
                    declarations[index].indexes.append(description)
                }
            }
        }
    }
}
