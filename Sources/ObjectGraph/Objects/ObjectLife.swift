/// The state of an object with respect to its context and its store.
///
/// | state | row in the store | the next save |
/// |---|---|---|
/// | ``unchanged`` | yes, unless the object is in no context | – |
/// | ``inserted`` | no | inserts the object |
/// | ``reinserted`` | no longer | inserts the object under its previous key |
/// | ``updated`` | yes | updates the row |
/// | ``updatedMissing`` | no longer | reports or resolves a conflict |
/// | ``deleted`` | yes | deletes the row |
/// | ``deletedMissing`` | no longer | finds nothing to delete |
/// | ``missing`` | no | – |
/// | ``discarded`` | never | – |
/// | ``erased`` | no longer | – |
///
/// An unchanged object with a row is clean; without a row it is a fault. ``ObjectState`` distinguishes the two.
///
/// The transitions, and the parts that make them:
///
/// ```
///               update                    delete                 didSave
/// unchanged ───────────────▶ updated                 deleted ───────────────▶ erased
///     ▲ ▲ ───────────────────────────────────────────▶ │
///     │ └──────────── revert, didSave ◀────────────────┘
///     │
///     ├── insert ─▶ inserted ── discard ─▶ discarded ── insert ─▶ inserted
///     │                 └─ didSave ─▶ unchanged
///     └── markMissing ─▶ missing ── markPresent ─▶ unchanged
///
/// erased ── insert ─▶ reinserted ── discard, revert ─▶ erased
/// updated, deleted ── markMissing ─▶ updatedMissing, deletedMissing ── revert ─▶ missing
/// ```
///
/// - `insert`, `update`, `delete`, `discard` and `revert` are caused by the lists of changes (``ChangeList``).
/// - `didSave` is caused by a commit.
/// - `markMissing` and `markPresent` are caused by reads of rows, and by announcements of saves by other contexts.
/// - `leaveGraph` is caused when an object leaves its context, and before another context takes it.
///
/// ``ObjectFlags`` contains the properties that do not depend on these states.
@usableFromInline
enum ObjectLife: UInt8, CaseIterable, Sendable {
    /// In the state of its row; also the state of an object in no graph.
    case unchanged
    /// New.
    case inserted
    /// Inserted again: its deletion was saved, and an undo or an insertion has reversed it.
    case reinserted
    /// Changed.
    case updated
    /// Changed, but another context or process has deleted the row.
    case updatedMissing
    /// Deleted, not saved yet.
    case deleted
    /// Deleted in this context, not saved yet, and the store has no row for it.
    case deletedMissing
    /// The store has no row for the object: another context or process has deleted it, or it never had one.
    case missing
    /// Deleted before its insertion was saved.
    case discarded
    /// Deleted, and its context has saved the deletion.
    case erased

    // MARK: Properties

    /// Whether the next save inserts the object.
    @inlinable var isInserted: Bool {
        // Not written with `==`, which is a call in code of other modules.
        @inline(__always) get {
            switch self {
            case .inserted, .reinserted: true
            case .unchanged, .updated, .updatedMissing, .deleted, .deletedMissing, .missing, .discarded, .erased: false
            }
        }
    }

    /// Whether the next save updates the object's row.
    var isUpdated: Bool { self == .updated || self == .updatedMissing }

    /// Whether the next save deletes the object's row.
    var isDeleted: Bool { self == .deleted || self == .deletedMissing }

    /// Whether the next save updates or deletes the object's row.
    var changesRow: Bool {
        switch self {
        case .updated, .updatedMissing, .deleted, .deletedMissing: true
        case .unchanged, .inserted, .reinserted, .missing, .discarded, .erased: false
        }
    }

    /// Whether the next save writes the object.
    var hasChanges: Bool { isInserted || changesRow }

    /// Whether the store is known to have no row for the object, and the object is not new.
    var isMissing: Bool {
        switch self {
        case .updatedMissing, .deletedMissing, .missing, .discarded, .erased: true
        case .unchanged, .inserted, .reinserted, .updated, .deleted: false
        }
    }

    /// Whether the object is deleted, saved or not, or missing. Relationships do not lead to such an object.
    var isDeletedOrMissing: Bool { self == .deleted || isMissing }

    /// Whether the store may have a row that fills the object: it is not new, and not missing.
    var canBeFilled: Bool { self == .unchanged || self == .updated || self == .deleted }

    /// Whether the store has the object's row, and the next save does not delete it.
    var isStored: Bool { self == .unchanged || self == .updated }

    /// Whether another context or process has deleted the row, and this context does not delete it.
    var isLost: Bool { self == .missing || self == .updatedMissing }

    /// Whether this context deleted the object, and has saved the deletion if the object had a row. The object can then
    /// be inserted again under its key.
    var isRestorable: Bool { self == .discarded || self == .erased }

    // MARK: Transitions

    /// The object will be inserted.
    mutating func insert() {
        assert(self == .unchanged || self == .missing || isRestorable, "a \(self) object cannot be inserted")
        self = self == .erased ? .reinserted : .inserted
    }

    /// The object will be updated.
    mutating func update() {
        assert(self == .unchanged || self == .missing, "a \(self) object cannot become updated")
        self = self == .missing ? .updatedMissing : .updated
    }

    /// The object's row will be deleted.
    mutating func delete() {
        assert(self == .unchanged, "a \(self) object cannot become deleted")
        self = .deleted
    }

    /// A new object is deleted before it is saved.
    mutating func discard() {
        assert(isInserted, "a \(self) object is not new")
        self = self == .reinserted ? .erased : .discarded
    }

    /// The pending change is dropped. Without a pending change, the state does not change.
    mutating func revert() {
        switch self {
        case .inserted, .updated, .deleted: self = .unchanged
        case .updatedMissing, .deletedMissing: self = .missing
        case .reinserted: self = .erased
        case .unchanged, .missing, .discarded, .erased: break
        }
    }

    /// The pending change has been saved.
    mutating func didSave() {
        assert(hasChanges, "a \(self) object has nothing to save")
        self = isDeleted ? .erased : .unchanged
    }

    /// The store has no row for the object. The state of a new object does not change.
    mutating func markMissing() {
        switch self {
        case .unchanged: self = .missing
        case .updated: self = .updatedMissing
        case .deleted: self = .deletedMissing
        case .inserted, .reinserted, .updatedMissing, .deletedMissing, .missing, .discarded, .erased: break
        }
    }

    /// The store has a row for an object without pending changes.
    mutating func markPresent() {
        assert(!hasChanges, "a \(self) object has pending changes")
        self = .unchanged
    }

    /// The object leaves its graph.
    mutating func leaveGraph() { self = .unchanged }
}

extension GraphObject {
    /// The state of the object with respect to its context and its store.
    var life: ObjectLife {
        @inline(__always) get { state.pointee.life }
        @inline(__always) _modify { yield &state.pointee.life }
    }
}
