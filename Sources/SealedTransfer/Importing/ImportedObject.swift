import ObjectGraph

/// The identifier of an object within a source.
///
/// Different sets of identifiers have different spaces: the identifiers of the objects of one root entity, and, in a
/// database, the values of further columns that foreign keys lead to.
struct ImportedID: Hashable {
    /// The number of the space.
    let space: Int
    let value: Value

    init(space: Int, _ value: Value) {
        self.space = space
        self.value = value
    }

    /// The identifier that a text file has as a number or a string: `12` and `"12"` are the same.
    init(root: Entity, text: String) {
        space = root.index
        if let number = Int64(text), String(number) == text {
            value = .integer(number)
        } else {
            value = .text(text)
        }
    }
}

/// An object as a source has it.
struct ImportedObject {
    let entity: Entity
    /// The identifiers, one for each space that the object is in; empty for an object that is not referred to.
    var ids: [ImportedID] = []
    /// The attributes that the source has, at their slots; nil for those that it does not have.
    var values: [Value?]
    /// The destinations of to-one relationships that the source has; nil for a relationship without a destination.
    var destinations: [(relationship: Relationship, id: ImportedID?)] = []
    /// The members of to-many relationships that the source has.
    var members: [(relationship: Relationship, ids: [ImportedID])] = []
    /// The place in the source, for errors.
    var place: SourcePlace?

    init(_ entity: Entity) {
        self.entity = entity
        values = Array(repeating: nil, count: entity.slotCount)
    }
}

/// A place in a text file.
struct SourcePlace: Hashable {
    let file: String
    var line: Int
    var column = 1

    func error(_ reason: String) -> TransferError {
        .malformed(file: file, line: line, column: column, reason: reason)
    }
}

/// The objects of a file or a database.
protocol ImportSource {
    /// The amount of work of one reading, in a unit that each source chooses.
    var unitCount: Int64 { get }
    /// Whether objects have identifiers in several spaces, so that all objects have to be identified before the first
    /// one is written.
    var needsIdentification: Bool { get }
    /// Whether the objects of a root entity have whole numbers as identifiers, as far as the source shows before it is
    /// read. They become the keys of the objects in a store that never had objects of the entity.
    func hasIntegerIDs(of root: Entity) throws -> Bool
    /// Passes all objects to a session. Can be called again, and then passes the same objects.
    func read(into session: ImportSession) throws
}
