import EncryptedSQLite
import Foundation
import Journal
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// The history of a store to which another process writes.
///
/// | test | writer |
/// |---|---|
/// | creates the store with a history | |
/// | | opens it without the option, and saves pairs |
/// | reads the transactions after the last known one | saves further pairs |
/// | kills the writer | |
/// | compares the transactions with the objects | |
@Suite("The history of several processes") struct HistoryProcessTests {
    private let folder = TemporaryFolder()

    private func coordinator(_ url: URL) throws -> PersistentStoreCoordinator {
        let journal = try Journal.open(url)
        let coordinator = PersistentStoreCoordinator(model: journal.model)
        let options: [String: any Sendable] = [
            SealedStore.keyOption: try EncryptionKey.raw(Array(repeating: 7, count: 32)),
            SealedStore.historyOption: HistoryOptions(),
        ]
        try coordinator.addPersistentStore(
            PersistentStoreDescription(type: SealedStore.storeType, url: url, options: options)
        )
        try journal.coordinator.removeAllStores()
        return coordinator
    }

    @Test func `a killed process leaves a transaction for each of its commits, and no other`() throws {
        let url = folder.file("journal.store")
        let coordinator = try coordinator(url)
        var changes: [Int64: [PersistentHistoryChange]] = [:]
        var last: Int64 = 0
        for round in 0..<4 {
            let writer = try WriterProcess(url, String(1 + 1000 * round))
            for _ in 0..<3 {
                writer.waitForLines(3)
                var request = HistoryFetchRequest(after: last)
                request.excludesOwn = true
                for transaction in try coordinator.history(request) {
                    changes[transaction.number] = transaction.changes
                    #expect(transaction.processIdentifier.hasPrefix("journal-writer"))
                    last = transaction.number
                }
            }
            _ = writer.end()
        }
        for transaction in try coordinator.history(HistoryFetchRequest(after: last)) {
            changes[transaction.number] = transaction.changes
        }
        #expect(changes.count >= 36)
        #expect(changes.values.allSatisfy { $0.map(\.kind) == [.insert, .insert] })
        let context = ManagedObjectContext(coordinator: coordinator)
        let stored = try context.fetchIDs(FetchRequest(context.model.entities[0])).map(\.key)
        #expect(Set(changes.values.flatMap { $0.map(\.objectID.key) }) == Set(stored))
        #expect(try context.storeProblems() == [])
    }
}
