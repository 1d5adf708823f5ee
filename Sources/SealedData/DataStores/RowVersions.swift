import Foundation
import Guarded
import ObjectGraph

/// The versions of a data store's rows, which have none of their own: a row that is not what it was is a later one.
final class RowVersions: Sendable {
    private let versions = Guarded<[Int64: (number: UInt32, content: Int)]>([:])

    /// The version of the row with a key that has some values now.
    func version(of key: Int64, _ values: [Value]) -> UInt32 {
        versions.withLock { versions in
            let content = Self.content(of: values)
            let known = versions[key]
            if let known, known.content == content { return known.number }
            let number = (known?.number ?? 0) &+ 1
            versions[key] = (number, content)
            return number
        }
    }

    /// The version that a row had when it was last read or saved; nil for one that is not known, or was deleted.
    func lastVersion(of key: Int64) -> UInt32? { versions.withLock { $0[key]?.number } }

    /// Notes that a row was saved.
    func didSave(_ row: Row) {
        let values = (0..<row.slotCount).map { row.value(at: $0) }
        versions.withLock { $0[row.key] = (row.version, Self.content(of: values)) }
    }

    /// What tells equal rows from others, be they from a context or from the store.
    private static func content(of values: [Value]) -> Int {
        var hasher = Hasher()
        for value in values {
            // Rows keep a UUID as its bytes.
            if case .blob = value, let uuid = UUID(storedValue: value) {
                hasher.combine(uuid.storedValue)
            } else {
                hasher.combine(value)
            }
        }
        return hasher.finalize()
    }

    /// Notes that a row was deleted.
    func remove(_ key: Int64) { versions.withLock { $0[key] = nil } }

    /// Notes that all rows were deleted.
    func removeAll() { versions.withLock { $0 = [:] } }
}
