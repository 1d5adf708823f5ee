extension ManagedObjectContext {
    /// The objects of rows, in their order: for each the one object that stands for it, made where there is none.
    func materialize(_ batch: RowBatch) -> [any GraphObject] {
        var result: [any GraphObject] = []
        result.reserveCapacity(batch.count)
        forEachObject(in: batch) { handler, object in result.append(handler.graphObject(object)) }
        return result
    }

    /// The same with the class known.
    func materialize<T: GraphObject>(_ batch: RowBatch, as type: T.Type) -> [T] {
        var result: [T] = []
        result.reserveCapacity(batch.count)
        forEachObject(in: batch) { _, object in result.append(unsafeDowncast(object, to: T.self)) }
        return result
    }

    /// The place where a row becomes an object.
    @inline(__always)
    private func forEachObject(in batch: RowBatch, _ body: (FaultHandler, AnyObject) -> Void) {
        guard let firstRow = batch.first(where: { _ in true }) else { return }
        var handler = handlers[firstRow.entityIndex]
        let table = handler.table
        table.reserve(batch.count)
        var entry = PendingState.Entry(type: nil, state: ObjectState(handler: handler, key: 0))
        PendingState.with(&entry) { entry in
            for chunk in batch.chunks {
                for index in 0..<chunk.rowCount {
                    let row = chunk.row(at: index)
                    let key = row.key
                    if row.entityIndex != handler.entity.index {
                        handler = handlers[row.entityIndex]
                        entry.pointee.state.handler = handler
                    }
                    if let found = table.object(forKey: key) {
                        let owner = handlers[found.entity]
                        owner.graphObject(found.object).adopt(refetched: row)
                        body(owner, found.object)
                        continue
                    }
                    entry.pointee.state.key = key
                    entry.pointee.state.chunk = chunk
                    entry.pointee.state.rowOffset = row.offset
                    let object = PendingState.makeObject(handler.objectType, entry) as AnyObject
                    table.insert(object, forKey: key, entity: handler.entity.index)
                    body(handler, object)
                }
            }
        }
    }
}

extension GraphObject {
    /// Takes in a row that was fetched again: a fault is filled, and an unchanged object brought up to date.
    func adopt(refetched row: Row) {
        guard let current = state.pointee.row else {
            if state.pointee.flags.isDisjoint(with: [.inserted, .vanished]) { state.pointee.row = row }
            return
        }
        guard current.isOlder(than: row) else { return }
        if state.pointee.flags.isDisjoint(with: [.updated, .deleted]) {
            state.pointee.row = row
        } else {
            state.pointee.flags.insert(.outdated)
        }
    }
}
