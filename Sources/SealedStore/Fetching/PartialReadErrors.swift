import EncryptedSQLite
import ObjectGraph

extension DatabaseError: PartialReadError {
    /// Whether a page of some of the rows can be the cause.
    package var mayConcernSingleRows: Bool {
        switch self {
        case .damaged, .inputOutput: true
        default: false
        }
    }
}

extension SealedStoreError: PartialReadError {
    /// Whether a value in some of the rows is the cause.
    package var mayConcernSingleRows: Bool { if case .damagedRow = self { true } else { false } }
}
