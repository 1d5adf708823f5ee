import EncryptedSQLite
import Foundation
import ObjectGraph

/// A model that is inferred from the tables of a database and the values in them, and the place of each property.
///
/// | database | model |
/// |---|---|
/// | table | entity |
/// | column | attribute of the type that all its values have |
/// | foreign key of one column | to-one relationship in place of the column |
/// | foreign key of several columns | to-one relationship, beside attributes for the columns |
/// | the other direction of a foreign key | to-many relationship, or to-one if the column is unique |
/// | table of two foreign keys, together its primary key or unique | many-to-many relationship |
/// | unique index, primary key | uniqueness constraint |
/// | other index | index |
struct InferredModel {
    /// The table of an entity, with the columns that are read.
    struct EntitySource {
        let table: DatabaseStructure.Table
        var name = ""
        var attributes: [AttributeSource] = []
        var references: [ReferenceSource] = []
        /// The further spaces of identifiers that foreign keys of other tables lead to.
        var spaces: [(columns: [DatabaseName], number: Int)] = []
    }

    struct AttributeSource {
        let column: DatabaseName
        let name: String
        let type: AttributeType
        let interpretation: ColumnInterpretation?
    }

    /// A foreign key that is a to-one relationship.
    struct ReferenceSource {
        let columns: [DatabaseName]
        let name: String
        let parent: String
        /// The columns of the parent; nil for its primary identifier.
        let parentColumns: [DatabaseName]?
    }

    /// A table that is a many-to-many relationship.
    struct PairSource {
        let table: DatabaseName
        let owner: ReferenceSource
        let member: ReferenceSource
        /// The name of the relationship of the owners' entity.
        let relationship: String
    }

    private(set) var model: ManagedObjectModel
    private(set) var entities: [EntitySource] = []
    private(set) var pairs: [PairSource] = []
    private(set) var rowCount = 0
    private(set) var notes: [String]
    private var positions: [String: Int] = [:]

    /// - Parameters:
    ///   - interpretations: The meanings of columns, by `table.column`.
    /// - Throws: ``TransferError/unsupported(_:)`` for a schema that cannot be read;
    ///   ``TransferError/unusedInterpretations(_:)``.
    init(
        _ connection: Connection,
        _ options: ImportOptions,
        _ interpretations: [String: ColumnInterpretation],
        _ progress: Progress?
    ) throws {
        var structure = try DatabaseStructure(connection, options.limits)
        structure.removeTablesOfCoreData()
        notes = structure.notes
        var inference = ModelInference(structure, options, interpretations)
        for table in structure.tables { rowCount += try inference.count(table, connection, progress) }
        model = try inference.model()
        entities = inference.entities
        pairs = inference.pairs
        notes += inference.notes
        for (position, entity) in entities.enumerated() { positions[entity.name] = position }
    }

    /// The table of an entity.
    func source(of entity: String) -> EntitySource? { positions[entity].map { entities[$0] } }
}
