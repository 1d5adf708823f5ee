import EncryptedSQLite
import Foundation
import ObjectGraph

extension OpenStore {
    // MARK: Making change sets

    /// Returns the changes that the common order does not contain yet, or a part of them; nil if there are none.
    ///
    /// - Parameter sizeLimit: The size of the change set in bytes, about the size of its coded form.
    /// - Throws: `ExchangeError`.
    func changeSet(sizeLimit: Int) throws -> ChangeSet? {
        let hasBegun = try database.read { connection in
            _ = try states.state(on: connection)
            return try ExchangeRecord.read(on: connection) != nil
        }
        if !hasBegun { _ = try writeTransaction { try ExchangeRecord.begin(self, on: $0) } }
        while true {
            guard let draft = try database.read({ try draft(sizeLimit, on: $0) }) else { return nil }
            let isCurrent = try writeTransaction { connection in
                guard var record = try ExchangeRecord.read(on: connection), record == draft.record else { return false }
                if draft.isNothing {
                    try record.acknowledge(through: draft.outstanding.covered, on: connection)
                } else {
                    try record.note(draft.outstanding, on: connection)
                }
                // A repeated call commits nothing: processes that follow the file would have to examine the commit.
                if record != draft.record { try record.write(on: connection) }
                return true
            }
            // Another connection may have applied a change set since the draft was made.
            if isCurrent { return draft.isNothing ? nil : draft.changeSet }
        }
    }

    private struct Draft {
        let record: ExchangeRecord
        let outstanding: ExchangeRecord.Outstanding
        let changeSet: ChangeSet

        /// Whether the store equals the common order, so that no change set is needed. An empty change set is sent if
        /// an earlier change set has no answer: the common order may contain the earlier change set, and the store then
        /// differs from it.
        var isNothing: Bool { changeSet.changes.isEmpty && record.outstanding.isEmpty }
    }

    /// Makes a change set of one state of the file; nil if there was no transaction since the last one.
    private func draft(_ sizeLimit: Int, on connection: Connection) throws -> Draft? {
        _ = try states.state(on: connection)
        guard let record = try ExchangeRecord.read(on: connection) else { throw ExchangeError.noIdentifiers }
        let pending = try UnexchangedChanges(record, self, on: connection)
        if pending.isEmpty, pending.lastTransaction == record.acknowledged { return nil }
        var builder = ChangeSetBuilder(pending, ExchangeReading(connection: connection, store: self))
        let (changes, isPart) = try builder.changes(limit: sizeLimit)
        func changeSet(_ id: UUID) -> ChangeSet {
            ChangeSet(
                id: id,
                origin: record.replica,
                sequence: record.position + 1,
                timestamp: Date(),
                authors: pending.authors,
                modelHash: exchanged.modelHash,
                changes: changes
            )
        }
        var identifiers = GlobalIdentifierSequence()
        var outstanding = ExchangeRecord.Outstanding(id: identifiers.next(), covered: pending.lastTransaction)
        outstanding.digest = try changeSet(outstanding.id).digest()
        if isPart { outstanding.isPart = true }
        // For the same transactions, the same change set is made, unless the store was migrated in between.
        if let last = record.outstanding.last, last.covered == outstanding.covered,
            last.digest.map({ $0 == outstanding.digest }) ?? true
        {
            outstanding = last
        }
        return Draft(record: record, outstanding: outstanding, changeSet: changeSet(outstanding.id))
    }

    /// The position in the common order.
    func exchangeState() throws -> ExchangeState {
        try database.read { connection in
            _ = try states.state(on: connection)
            let record = try ExchangeRecord.read(on: connection)
            return ExchangeState(replica: record?.replica, position: record?.position ?? 0)
        }
    }

    // MARK: Applying change sets

    /// Applies a change set in one transaction.
    ///
    /// - Throws: `ExchangeError`.
    func apply(_ changeSet: ChangeSet, _ mergePolicy: MergePolicy) throws -> ChangeSetResult {
        guard changeSet.sequence > 0 else { throw IncomingChanges.error(.invalidSequence) }
        guard !description.isReadOnly else { throw ObjectGraphError.storeIsReadOnly }
        let position = try exchangeState().position
        if changeSet.sequence <= position { return ChangeSetResult(outcome: .skipped, position: position) }
        // The change set may be an earlier change set of this store, made with an earlier model.
        let incoming = Result { try IncomingChanges(changeSet, self) }
        // In separate transactions: reserved keys must outlast a rollback.
        let newKeys = try newKeys(for: try? incoming.get())
        return try writeTransaction { connection in
            var record = try ExchangeRecord.begin(self, on: connection)
            if changeSet.sequence <= record.position {
                return ChangeSetResult(outcome: .skipped, position: record.position)
            }
            guard changeSet.sequence == record.position + 1 else {
                throw ExchangeError.outOfSequence(position: record.position, sequence: changeSet.sequence)
            }
            let own = try record.outstanding(changeSet, on: connection)
            try record.advance(to: changeSet.sequence, on: connection)
            if let own {
                try acknowledge(own, changeSet, try? incoming.get(), &record, on: connection)
                try record.write(on: connection)
                return ChangeSetResult(outcome: .acknowledged, position: record.position)
            }
            let result = try apply(incoming.get(), changeSet, mergePolicy, newKeys, &record, on: connection)
            try record.write(on: connection)
            return result
        }
    }

    /// Records that the common order contains a change set of the store itself.
    private func acknowledge(
        _ own: ExchangeRecord.Outstanding,
        _ changeSet: ChangeSet,
        _ incoming: IncomingChanges?,
        _ record: inout ExchangeRecord,
        on connection: Connection
    ) throws {
        guard own.isPart ?? false else { return try record.acknowledge(through: own.covered, on: connection) }
        let pending = try UnexchangedChanges(record, self, on: connection)
        let reading = ExchangeReading(connection: connection, store: self)
        let differences = try ExchangeDifferences(acknowledging: changeSet, incoming, pending, reading)
        try record.note(
            differences,
            pending,
            through: pending.lastTransaction,
            isTransaction: false,
            on: connection
        )
    }

    private func newKeys(for incoming: IncomingChanges?) throws -> [Int: [Int64]] {
        var counts: [Int: Int] = [:]
        for change in incoming?.changes ?? [] where change.kind == .insert {
            counts[change.entity.rootIndex, default: 0] += 1
        }
        var keys: [Int: [Int64]] = [:]
        for (rootIndex, count) in counts {
            // Keys are taken from the end of the list: they are in the order of the change set.
            keys[rootIndex] = try obtainPermanentIDs(for: model.entities[rootIndex], count: count).map(\.key).reversed()
        }
        return keys
    }

    private func apply(
        _ incoming: IncomingChanges,
        _ changeSet: ChangeSet,
        _ mergePolicy: MergePolicy,
        _ newKeys: [Int: [Int64]],
        _ record: inout ExchangeRecord,
        on connection: Connection
    ) throws -> ChangeSetResult {
        let pending = try UnexchangedChanges(record, self, on: connection)
        let reading = ExchangeReading(connection: connection, store: self)
        var merge = try ChangeSetMerge(incoming, pending, mergePolicy, newKeys: newKeys, reading)
        let author = changeSet.authors.isEmpty ? nil : changeSet.authors.joined(separator: ", ")
        let history = try write(&merge, author: author)
        try setIdentifiers(merge)
        let number = try history?.finish()
        let differences = try ExchangeDifferences(merge, written: history?.written ?? [])
        try record.note(
            differences,
            pending,
            through: number ?? pending.lastTransaction,
            isTransaction: number != nil,
            on: connection
        )
        return ChangeSetResult(
            outcome: .applied,
            position: record.position,
            conflicts: merge.allConflicts,
            transaction: number
        )
    }

    /// Writes the save of a merge, composed again after each conflict.
    ///
    /// - Returns: the changes, which are not written to the history yet; nil if nothing was written.
    private func write(_ merge: inout ChangeSetMerge, author: String?) throws -> HistoryRecorder? {
        while true {
            let save = try merge.save()
            try merge.requireNoConflicts()
            guard !save.request.isEmpty || !save.orders.isEmpty else { return nil }
            do {
                // A savepoint.
                return try writeTransaction { connection in
                    let history = try HistoryRecorder.begin(connection, self, author: author)
                    var transaction = SaveTransaction(connection, self, history)
                    transaction.clearsAllReferences = true
                    try transaction.write(save.request, orders: { try changes(save.orders, merge.reading) })
                    return history
                }
            } catch let conflict as SaveConflict {
                try merge.resolve(conflict)
            }
        }
    }

    /// The orders of to-many relationships, with the members that they have now.
    private func changes(
        _ orders: [ChangeSetMerge.Order],
        _ reading: ExchangeReading
    ) throws -> [SaveChangesRequest.MembershipChange] {
        try orders.compactMap { order in
            let members = try reading.members(of: order.relationship, order.owner)
            guard !members.isEmpty else { return nil }
            return .init(
                relationship: order.relationship,
                owner: order.owner,
                added: [],
                removed: [],
                order: order.sorted(members)
            )
        }
    }

    /// Gives new objects their identifiers, also objects that were not inserted, since their deletions are exchanged.
    private func setIdentifiers(_ merge: ChangeSetMerge) throws {
        for target in merge.targets where target.isNew {
            try merge.reading.setIdentifier(target.change.identifier, of: target.place)
        }
        for (place, identifier) in merge.merged { try merge.reading.setIdentifier(identifier, of: place) }
    }
}
