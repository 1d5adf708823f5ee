/// An error of an import or export beyond the errors of the store and of the database.
///
/// No case carries a value of a file or a store.
public enum TransferError: Error, Hashable, Sendable {
    /// A text file does not have the form that its format requires, or holds a value that does not fit its property.
    ///
    /// Lines and columns count from 1, columns in bytes.
    case malformed(file: String, line: Int, column: Int, reason: String)
    /// A line, or a record of CSV, is longer than ``TransferLimits/lineByteCount``.
    case lineTooLong(file: String, line: Int)
    /// Values of the source have no exact form in their properties.
    case unfitValues([UnfitValues])
    /// Several objects of the source, or an object of the source and an object of the store, have the same unique
    /// values.
    case notUnique(entity: String, properties: [String])
    /// The objects violate rules of the model, one line for each violation; nothing was imported.
    case violations([String])
    /// Interpretations were given for names, such as `table.column`, that no column with values has.
    case unusedInterpretations([String])
    /// The source cannot be imported because of a part that is not supported.
    case unsupported(String)
    /// A file that belongs to the source cannot be read.
    case unreadable(file: String, reason: String)
}

/// Values of one property that were not imported.
public struct UnfitValues: Hashable, Sendable, Codable {
    /// The name of the entity, or of the table.
    public let entity: String
    /// The name of the property, or of the column.
    public let property: String
    /// The reason.
    public let reason: String
    /// The number of values.
    public let count: Int
}

extension UnfitValues: CustomStringConvertible {
    /// The place, the reason and the number.
    public var description: String { "\(entity).\(property): \(reason) (\(count))" }
}

extension TransferError: CustomStringConvertible {
    /// The problem and its place.
    public var description: String {
        switch self {
        case .malformed(let file, let line, let column, let reason): "\(file):\(line):\(column): \(reason)"
        case .lineTooLong(let file, let line): "\(file):\(line): the line is longer than the limit"
        case .unfitValues(let values):
            Self.list("values do not fit their properties, and nothing was imported:", values)
        case .notUnique(let entity, let properties):
            "several objects of '\(entity)' have the same unique values of \(properties.joined(separator: ", "))"
        case .violations(let problems):
            Self.list("the objects violate rules of the model, and nothing was imported:", problems)
        case .unusedInterpretations(let names):
            "no imported column has the name of an interpretation: \(names.joined(separator: ", "))"
        case .unsupported(let part): "\(part) cannot be imported"
        case .unreadable(let file, let reason): "\(file) cannot be read: \(reason)"
        }
    }

    private static func list(_ title: String, _ lines: [some CustomStringConvertible]) -> String {
        ([title] + lines.map { "  \($0)" }).joined(separator: "\n")
    }
}
