/// The properties of a file's state, other than the model and its names, on which statements depend.
final class FileConditions: Sendable {
    /// The columns with texts that are not in normalization form C, by ``name(of:in:)``.
    let columnsOfMixedForms: Set<String>
    /// The indexes that the file had when it was opened and has no longer.
    let missingIndexes: Set<SchemaNames.IndexName>
    /// The recording of the history; nil if the file has no history.
    let history: HistoryRecording?
    /// Whether the file has a ``LargeValueTable``.
    let hasLargeValues: Bool

    init(
        columnsOfMixedForms: Set<String> = [],
        missingIndexes: Set<SchemaNames.IndexName> = [],
        history: HistoryRecording? = nil,
        hasLargeValues: Bool = false
    ) {
        self.columnsOfMixedForms = columnsOfMixedForms
        self.missingIndexes = missingIndexes
        self.history = history
        self.hasLargeValues = hasLargeValues
    }

    /// The name of a column in ``columnsOfMixedForms``.
    static func name(of column: Column, in table: EntityTable) -> String { "\(table.recordedName).\(column.name)" }

    /// Whether a column contains texts in other forms.
    func areFormsMixed(in column: Column, of table: EntityTable) -> Bool {
        !columnsOfMixedForms.isEmpty && columnsOfMixedForms.contains(Self.name(of: column, in: table))
    }
}

extension FileConditions: Hashable {
    static func == (left: FileConditions, right: FileConditions) -> Bool {
        left.columnsOfMixedForms == right.columnsOfMixedForms && left.missingIndexes == right.missingIndexes
            && left.history == right.history && left.hasLargeValues == right.hasLargeValues
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(columnsOfMixedForms)
        hasher.combine(missingIndexes)
        hasher.combine(history)
        hasher.combine(hasLargeValues)
    }
}
