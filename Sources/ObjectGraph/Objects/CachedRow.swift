import Dispatch
import Foundation

/// A row that a fault has at hand: values that a fetch has read, and the object has not taken in.
///
/// Objects of a fetch that reads only some properties, or none, are such faults, and so are those of one with
/// ``FetchRequest/returnsObjectsAsFaults``. They cost one allocation more than others.
struct CachedRow {
    private let chunk: RowChunk
    private let offset: UInt32
    /// Whether values are missing, so that filling the fault takes a request.
    let isPartial: Bool
    /// When the row was read, in nanoseconds of a clock that only moves forward.
    private let readTime: UInt64

    /// - Parameter readTime: What ``currentTime`` was when the row had been read.
    init(_ row: Row, readTime: UInt64) {
        chunk = row.chunk
        offset = row.offset
        isPartial = row.isPartial
        self.readTime = readTime
    }

    static var currentTime: UInt64 { DispatchTime.now().uptimeNanoseconds }

    var row: Row { Row(chunk: chunk, offset: offset) }

    /// Whether the row may not fill a fault any more.
    ///
    /// - Parameter interval: For how many seconds it may; a negative number for any time.
    func isStale(after interval: TimeInterval) -> Bool {
        interval >= 0 && Double(Self.currentTime - readTime) >= interval * 1e9
    }
}

extension GraphObject {
    /// The row that a fault has at hand.
    var cachedRow: CachedRow? { state.pointee.changes?.cachedRow }

    /// The row, or what is known of it.
    var lastRow: Row? { state.pointee.row ?? cachedRow?.row }

    /// The rows that were read together with the object's own; nil where the object has changed its identity since.
    var neighbours: RowChunk? {
        guard let row = lastRow, row.key == state.pointee.key else { return nil }
        return row.chunk
    }

    /// Makes a fault one that has nothing at hand.
    func dropCachedRow() {
        guard let changes = state.pointee.changes, changes.cachedRow != nil else { return }
        changes.cachedRow = nil
        // An object without changes is read the fastest.
        if changes.isEmpty { state.pointee.changes = nil }
    }
}

extension ManagedObjectContext {
    /// The objects of rows that a request has read, in their order: faults that have the rows at hand, where the request
    /// reads only some properties or asks for faults.
    ///
    /// - Precondition: The request's ``FetchRequest/makesFaults`` is true.
    func materializeFaults(_ batch: RowBatch, for request: FetchRequest) -> [any GraphObject] {
        var objects: [any GraphObject] = []
        objects.reserveCapacity(batch.count)
        handlers[request.entity.index].table.reserve(batch.count)
        let readTime = CachedRow.currentTime
        var awakened: [any GraphObject] = []
        for row in batch {
            let cached = CachedRow(row, readTime: readTime)
            // A store may have read all properties nevertheless.
            let isFault = cached.isPartial || request.returnsObjectsAsFaults
            if let found = handlers[request.entity.index].table.object(forKey: row.key),
                keeps(found, row.key, for: row.entityIndex)
            {
                let known = handlers[found.entity].graphObject(found.object)
                if isFault {
                    known.adopt(cached)
                } else if known.adopt(refetched: row) {
                    awakened.append(known)
                }
                objects.append(known)
                continue
            }
            let handler = handlers[row.entityIndex]
            var state = ObjectState(handler: handler, key: row.key)
            if isFault {
                let changes = ObjectChanges.make(slotCount: handler.entity.slotCount)
                changes.cachedRow = cached
                state.changes = changes
            } else {
                state.row = row
            }
            let object = handler.makeObject(state)
            handler.table.insert(object, forKey: row.key, entity: row.entityIndex)
            objects.append(object)
            if !isFault { awakened.append(object) }
        }
        // Only now, since an object may do anything.
        for object in awakened { object.withLifecycle?.awakeFromFetch() }
        return objects
    }
}

extension GraphObject {
    /// Takes in a row that was fetched for a fault: it is at hand then. An object that is filled stays so, unless the row is
    /// a later one.
    fileprivate func adopt(_ cached: CachedRow) {
        guard isOfEntity(cached.row) else { return }
        let state = state
        if let current = state.pointee.row {
            guard current.isOlder(than: cached.row) else { return }
            guard cached.isPartial, !state.pointee.life.changesRow else {
                adopt(refetched: cached.row)
                return
            }
            if state.pointee.life.isMissing { state.pointee.life.markPresent() }
        } else {
            guard state.pointee.life.canBeFilled else { return }
            if let known = cachedRow, cached.row.isOlder(than: known.row) || !known.isPartial && cached.isPartial,
                !known.row.isOlder(than: cached.row)
            {
                return
            }
        }
        replaceRow(by: cached)
    }
}
