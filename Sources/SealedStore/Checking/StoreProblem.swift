/// A problem of a store's content, with all rows that have it.
package struct StoreProblem: Hashable, Sendable {
    /// The kind of the problem.
    package enum Kind: Hashable, Sendable {
        /// Pages of the file cannot be decrypted or differ from the written ones; SQLite's message.
        case damage(String)
        /// Rows are of an unknown or abstract entity.
        case unknownEntity
        /// Rows have a key that is not positive.
        case invalidKey
        /// Rows have no version.
        case invalidVersion
        /// The sequence would return keys that are in use.
        case exhaustedSequence
        /// An attribute that is not optional has no value.
        case missingValue
        /// A property has a value in rows of entities that do not have it.
        case strayValue
        /// The destination of a relationship does not exist, or is of another entity.
        case danglingReference
        /// The owner of pairs of a relationship does not exist, or is of another entity.
        case danglingOwner
        /// The inverse of a relationship's destination does not refer back.
        case inverseMismatch
        /// Members of an ordered relationship share a position, or have a negative one.
        case invalidOrder
        /// A full-text index or an R-tree differs from its table.
        case indexMismatch
    }

    /// The kind of the problem.
    package let kind: Kind
    /// The entity, or the relationship or attribute with its entity; nil for the whole file.
    package let place: String?
    /// The number of rows.
    package let count: Int
    /// The primary key of one of the objects; nil if the problem does not concern objects.
    package let firstKey: Int64?

    init(_ kind: Kind, at place: String? = nil, count: Int = 1, firstKey: Int64? = nil) {
        self.kind = kind
        self.place = place
        self.count = count
        self.firstKey = firstKey
    }
}

extension StoreProblem: CustomStringConvertible {
    /// The problem and its place, without any value.
    package var description: String {
        let text =
            switch kind {
            case .damage(let words): "the file is damaged: \(words)"
            case .unknownEntity: "rows of an unknown or abstract entity"
            case .invalidKey: "primary keys that are not positive"
            case .invalidVersion: "rows without a version"
            case .exhaustedSequence: "primary keys that the sequence would return again"
            case .missingValue: "no value of a required property"
            case .strayValue: "a value in rows of an entity that does not have the property"
            case .danglingReference: "references to missing objects"
            case .danglingOwner: "members of missing objects"
            case .inverseMismatch: "references whose inverse does not refer back"
            case .invalidOrder: "members without a unique position"
            case .indexMismatch: "an index that differs from its table"
            }
        let key = firstKey.map { ", the first at \($0)" } ?? ""
        return place.map { "\($0): \(text) (\(count)\(key))" } ?? text
    }
}
