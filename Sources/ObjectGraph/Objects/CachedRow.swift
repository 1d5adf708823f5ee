import Dispatch
import Foundation

/// A row that can fill a fault: a fetch has read it, and the object has not adopted it.
///
/// The objects of a fetch that reads only some properties, or none, are such faults, and so are the objects of a fetch
/// with ``FetchRequest/returnsObjectsAsFaults``. They cost one more allocation than other objects. An object is such a
/// fault, too, after another process may have changed its row.
struct CachedRow {
    private let chunk: RowChunk
    private let offset: UInt32
    /// Whether values are missing, so that filling the fault requires a request.
    let isPartial: Bool
    /// Whether the store may have a later version, so that filling the fault requires a request. The row groups the
    /// fault with the faults that are filled with it, and has its last known values.
    let isOutdated: Bool
    /// The time at which the row was read, in nanoseconds of a monotonic clock.
    private let readTime: UInt64

    /// - Parameter readTime: The ``currentTime`` after the row was read.
    init(_ row: Row, readTime: UInt64) {
        chunk = row.chunk
        offset = row.offset
        isPartial = row.isPartial
        isOutdated = false
        self.readTime = readTime
    }

    /// The same row, which may have been superseded.
    init(outdated row: Row) {
        chunk = row.chunk
        offset = row.offset
        isPartial = row.isPartial
        isOutdated = true
        readTime = 0
    }

    static var currentTime: UInt64 { DispatchTime.now().uptimeNanoseconds }

    var row: Row { Row(chunk: chunk, offset: offset) }

    /// Whether the row is too old to fill a fault.
    ///
    /// - Parameter interval: The number of seconds for which it may fill a fault; a negative number means no limit.
    func isStale(after interval: TimeInterval) -> Bool {
        interval >= 0 && Double(Self.currentTime - readTime) >= interval * 1e9
    }
}
