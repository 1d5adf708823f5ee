import Dispatch
import Foundation

/// A row that can fill a fault: a fetch has read it, and the object has not adopted it.
///
/// The objects of a fetch that reads only some properties, or none, are such faults, and so are those of a fetch with
/// ``FetchRequest/returnsObjectsAsFaults``. They cost one more allocation than others.
struct CachedRow {
    private let chunk: RowChunk
    private let offset: UInt32
    /// Whether values are missing, so that filling the fault requires a request.
    let isPartial: Bool
    /// The time at which the row was read, in nanoseconds of a monotonic clock.
    private let readTime: UInt64

    /// - Parameter readTime: The ``currentTime`` after the row was read.
    init(_ row: Row, readTime: UInt64) {
        chunk = row.chunk
        offset = row.offset
        isPartial = row.isPartial
        self.readTime = readTime
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
