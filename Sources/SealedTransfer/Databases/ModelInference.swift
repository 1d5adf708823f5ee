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
    /// The entities, by the names of their tables.
    private var entityIndexes: [DatabaseName: Int] = [:]
    /// The foreign keys of each entity that lead to an entity.
    private var references: [[Reference]] = []
    /// The number of all further spaces of identifiers.
    private var spaceCount = 0

    /// A foreign key that leads to an entity.
    private struct Reference {
        let key: DatabaseStructure.ForeignKey
        /// The index of the entity to which it leads.
        let parent: Int
    }

    /// The interpretations that no attribute has used, with the names as the program gave them.
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
        contents[table.name] = Dictionary(zip(columns.map(\.name), counts), uniquingKeysWith: { $1 })
        return rows
    }

    private func content(_ table: DatabaseStructure.Table, _ column: DatabaseName) -> ColumnContent {
        contents[table.name]?[column] ?? ColumnContent()
    }

    // MARK: The model

    mutating func model() throws -> ManagedObjectModel {
        var names = PropertyNames()
        let parents = Set(structure.tables.flatMap { $0.foreignKeys.map(\.parent) })
        let pairTables = structure.tables.filter { !parents.contains($0.name) && isPairTable($0) }
        let pairNames = Set(pairTables.map(\.name))
        for table in structure.tables where !pairNames.contains(table.name) {
            var source = InferredModel.EntitySource(table: table)
            source.name = names.add(table.name.text)
            entityIndexes[table.name] = entities.count
            entities.append(source)
            declarations.append(EntityDescription(source.name))
            propertyNames.append(PropertyNames())
        }
        for index in entities.indices { references.append(findReferences(of: entities[index].table)) }
        for index in entities.indices { addAttributes(of: index) }
        guard unusedInterpretations.isEmpty else {
            throw TransferError.unusedInterpretations(unusedInterpretations.values.sorted())
        }
        // Before the inverses, which can take any name that is left.
        var referenceNames: [[String]] = []
        for index in entities.indices { referenceNames.append(nameReferences(of: index)) }
        for index in entities.indices { try addReferences(of: index, names: referenceNames[index]) }
        for table in pairTables { try addPairs(table) }
        for index in entities.indices { addIndexes(of: index) }
        return try ManagedObjectModel(entities: declarations)
    }

    /// Adds the name of a relationship that another table gives an entity.
    ///
    /// - Throws: ``TransferError/unsupported(_:)`` for an entity with more properties than the limit: the foreign keys
    ///   of any number of tables can lead to it.
    private mutating func addName(_ name: String, to index: Int) throws -> String {
        let limit = options.limits.propertyCount
        guard propertyNames[index].count < limit else {
            throw TransferError.unsupported("a table with more than \(limit) columns and foreign keys that lead to it")
        }
        return propertyNames[index].add(name)
    }

    /// Whether a table, to which no foreign key leads, has two foreign keys of one column, no other column, and no pair
    /// twice.
    private func isPairTable(_ table: DatabaseStructure.Table) -> Bool {
        let keys = table.foreignKeys
        guard keys.count == 2, keys.allSatisfy({ $0.columns.count == 1 && structure.table($0.parent) != nil }) else {
            return false
        }
        let columns = Set(keys.flatMap(\.columns))
        let others = table.columns.filter { !columns.contains($0.name) }
        // A column that only numbers the rows holds no data.
        let rowID = table.rowIDColumn?.name
        guard columns.count == 2, others.allSatisfy({ $0.name == rowID }) else { return false }
        let isUnique = table.indexes.contains { $0.isUnique && Set($0.columns) == columns }
        return isUnique && keys.allSatisfy { content(table, $0.columns[0]).nulls == 0 }
    }

    /// The foreign keys of a table that lead to an entity.
    private func findReferences(of table: DatabaseStructure.Table) -> [Reference] {
        table.foreignKeys.compactMap { key -> Reference? in
            guard let parent = entityIndexes[key.parent], key.columns.allSatisfy({ table.column($0) != nil }) else {
                return nil
            }
            let columns = key.parentColumns ?? entities[parent].table.primaryKey.map(\.name)
            guard columns.count == key.columns.count,
                columns.allSatisfy({ entities[parent].table.column($0)?.isGenerated == false })
            else { return nil }
            return Reference(key: key, parent: parent)
        }
    }

    private mutating func addAttributes(of index: Int) {
        let table = entities[index].table
        let replaced = Set(references[index].map(\.key.columns).filter { $0.count == 1 }.joined())
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
        var names: [String] = []
        for reference in references[index] {
            let columns = reference.key.columns
            let name =
                columns.count == 1
                ? PropertyNames.relationship(ofColumn: columns[0].text)
                : PropertyNames.lowerFirst(entities[reference.parent].name)
            names.append(propertyNames[index].add(name))
        }
        return names
    }

    private mutating func addReferences(of index: Int, names: [String]) throws {
        let table = entities[index].table
        let child = PropertyNames.lowerFirst(entities[index].name)
        let uniqueColumns = Set(table.indexes.filter(\.isUnique).map { Set($0.columns) })
        var counts: [Int: Int] = [:]
        for reference in references[index] { counts[reference.parent, default: 0] += 1 }
        for (reference, name) in zip(references[index], names) {
            let (key, parent) = (reference.key, reference.parent)
            let isUnique = uniqueColumns.contains(Set(key.columns))
            let isRepeated = counts[parent, default: 0] > 1 || parent == index
            let inverse = try addName(isRepeated ? "\(child)_\(name)" : child, to: parent)
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
            entities[parent].spaces.append((columns, spaceCount))
            spaceCount += 1
        }
        return columns
    }

    private mutating func addPairs(_ table: DatabaseStructure.Table) throws {
        let keys = table.foreignKeys
        guard let first = entityIndexes[keys[0].parent], let second = entityIndexes[keys[1].parent] else { return }
        let (ownerName, memberName) = (
            PropertyNames.relationship(ofColumn: keys[1].columns[0].text),
            PropertyNames.relationship(ofColumn: keys[0].columns[0].text)
        )
        let name = try addName(
            first == second ? ownerName : PropertyNames.lowerFirst(entities[second].name),
            to: first
        )
        let inverse = try addName(
            first == second ? memberName : PropertyNames.lowerFirst(entities[first].name),
            to: second
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
        var names: [DatabaseName: String] = [:]
        for reference in source.references.reversed() where reference.columns.count == 1 {
            names[reference.columns[0]] = reference.name
        }
        for attribute in source.attributes { names[attribute.column] = attribute.name }
        let referenceNames = Set(source.references.map { [$0.name] })
        var (unique, others): (Set<[String]>, Set<[String]>) = ([], [])
        for declared in source.table.indexes {
            let properties = declared.columns.compactMap { names[$0] }
            guard properties.count == declared.columns.count, Set(properties).count == properties.count,
                !referenceNames.contains(properties)
            else { continue }
            // Different values can have the same text.
            let isMixed = declared.columns.contains { content(source.table, $0).isMixed }
            if declared.isUnique, !isMixed {
                if unique.insert(properties).inserted { declarations[index].uniquenessConstraints.append(properties) }
            } else if !declared.isUnique, others.insert(properties).inserted {
                declarations[index].indexes.append(FetchIndexDescription(properties))
            }
        }
    }
}
