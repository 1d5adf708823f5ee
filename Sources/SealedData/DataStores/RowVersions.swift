import Foundation
import Guarded
import ObjectGraph

/// The versions of a data store's rows, which the store does not version: a row whose values have changed has a later
/// version.
final class RowVersions: Sendable {
    private let versions = Guarded<[Int64: (number: UInt32, content: Int)]>([:])

    /// Returns the version of the row with a key and its current values.
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

    /// Returns the version of a row when it was last read or saved; nil if the row is unknown or deleted.
    func lastVersion(of key: Int64) -> UInt32? { versions.withLock { $0[key]?.number } }

    /// Records that a row was saved.
    func didSave(_ row: Row) {
        let values = (0..<row.slotCount).map { row.value(at: $0) }
        versions.withLock { $0[row.key] = (row.version, Self.content(of: values)) }
    }

    /// Returns a hash that is equal for equal rows, from a context or from the store.
    private static func content(of values: [Value]) -> Int {
        var hasher = Hasher()
        for value in values {
            // Rows store a UUID as its bytes.
            if case .blob = value, let uuid = UUID(storedValue: value) {
                hasher.combine(uuid.storedValue)
            } else {
                hasher.combine(value)
            }
        }
        return hasher.finalize()
    }

    /// Records that a row was deleted.
    func remove(_ key: Int64) { versions.withLock { $0[key] = nil } }

    /// Records that all rows were deleted.
    func removeAll() { versions.withLock { $0 = [:] } }
}
