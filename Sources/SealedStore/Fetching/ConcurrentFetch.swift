import EncryptedSQLite
import Foundation
import ObjectGraph

extension OpenStore {
    /// The smallest number of rows that several threads read.
    static let concurrentRows = 16_384
    /// Constant, since the call costs more than a small fetch.
    private static let processorCount = ProcessInfo.processInfo.activeProcessorCount

    /// Reads all rows of an entity on several threads, each a range of keys, all in the same state.
    ///
    /// - Returns: nil if the fetch would be slower, or is not possible.
    func fetchConcurrently(_ request: FetchRequest) throws -> RowBatch? {
        let parts = min(Self.processorCount, database.readerCount)
        guard parts > 1, request.readsWholeTable,
            let last = try tableSizes.lastKey(
                of: request.entity,
                ifThereAre: Self.concurrentRows,
                lastKey: { try lastReservedKey(of: request.entity) }
            )
        else { return nil }
        // Other writers may insert and delete rows before the read, so the outermost ranges are unbounded.
        let bounds = (1..<parts).map { last / Int64(parts) * Int64($0) }
        let batches = try database.readConcurrently(parts: parts) { connection, part in
            var request = request
            request.predicate = .keys(
                from: part > 0 ? bounds[part - 1] : nil,
                to: part < bounds.count ? bounds[part] : nil
            )
            return try self.fetch(request, in: nil, on: connection)
        }
        guard let batches else { return nil }
        var rows = RowBatch()
        for batch in batches { rows.append(batch) }
        tableSizes.note(rows, for: request)
        return rows
    }

    private func lastReservedKey(of entity: Entity) throws -> Int64 {
        let root = schema.model.root(of: entity)
        return try database.read { try PrimaryKeySequences.lastKey(of: root, on: $0) }
    }
}

extension FetchRequest {
    /// Whether the request matches all objects in the order of their keys.
    var readsWholeTable: Bool {
        predicate == nil && search == nil && sort.isEmpty && limit == nil && offset == 0
    }
}

extension QueryExpression {
    /// The condition that a key is in a range.
    fileprivate static func keys(from lower: Int64?, to upper: Int64?) -> QueryExpression {
        var conditions: [QueryExpression] = []
        if let lower { conditions.append(.comparison(.greaterOrEqual, .variable(0), .literal(.integer(lower)))) }
        if let upper { conditions.append(.comparison(.less, .variable(0), .literal(.integer(upper)))) }
        return .and(conditions)
    }
}
