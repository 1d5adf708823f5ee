/// Something that is wrong with the content of a store, at all places where it is.
package struct StoreProblem: Hashable, Sendable {
    /// What is wrong.
    package enum Kind: Hashable, Sendable {
        /// Pages of the file cannot be decrypted or are not what they were written as; SQLite's words.
        case damage(String)
        /// Rows are of an entity that the model does not have, or that is abstract.
        case unknownEntity
        /// Rows have a key that is not positive.
        case invalidKey
        /// Rows have no version.
        case invalidVersion
        /// Keys would be given out that are in use.
        case exhaustedSequence
        /// An attribute that is not optional has no value.
        case missingValue
        /// A property has a value in rows of entities that do not have it.
        case strayValue
        /// A relationship leads to an object that is not there, or is of another entity.
        case danglingReference
        /// Pairs of a relationship belong to an object that is not there, or is of another entity.
        case danglingOwner
        /// A relationship leads to objects whose inverse does not lead back.
        case inverseMismatch
        /// Members of an ordered relationship share a place, or have one before the first.
        case invalidOrder
        /// A full-text index or an R-tree does not fit its table.
        case indexMismatch
    }

    /// What is wrong.
    package let kind: Kind
    /// The entity, or the relationship or attribute with its entity; nil for the file as a whole.
    package let place: String?
    /// In how many rows.
    package let count: Int
    /// The primary key of one of the objects; nil where there is none.
    package let firstKey: Int64?

    init(_ kind: Kind, at place: String? = nil, count: Int = 1, firstKey: Int64? = nil) {
        self.kind = kind
        self.place = place
        self.count = count
        self.firstKey = firstKey
    }
}

extension StoreProblem: CustomStringConvertible {
    /// What is wrong and where, without any value.
    package var description: String {
        let text =
            switch kind {
            case .damage(let words): "the file is damaged: \(words)"
            case .unknownEntity: "rows of an entity that the model does not have"
            case .invalidKey: "primary keys that are not positive"
            case .invalidVersion: "rows without a version"
            case .exhaustedSequence: "primary keys that would be given out again"
            case .missingValue: "no value, though it is not optional"
            case .strayValue: "a value in rows of an entity that does not have the property"
            case .danglingReference: "references to objects that are not there"
            case .danglingOwner: "members of objects that are not there"
            case .inverseMismatch: "references whose inverse does not lead back"
            case .invalidOrder: "members without a place of their own"
            case .indexMismatch: "an index that does not fit the rows"
            }
        let key = firstKey.map { ", the first at \($0)" } ?? ""
        return place.map { "\($0): \(text) (\(count)\(key))" } ?? text
    }
}
