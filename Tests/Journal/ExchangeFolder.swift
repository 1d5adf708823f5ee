package import Foundation
package import ObjectGraph
import SealedStore
import TestSupport

/// A common order of change sets as files of a folder, which several processes extend.
package struct ExchangeFolder {
    private let folder: URL

    /// - Parameter folder: An existing folder.
    package init(_ folder: URL) {
        self.folder = folder
    }

    private func file(_ sequence: Int64) -> URL { folder.appending(path: "\(sequence).json") }

    /// Appends a change set.
    ///
    /// - Returns: False if the order already has one with this sequence.
    private func append(_ changes: ChangeSet) throws -> Bool {
        let draft = folder.appending(path: UUID().uuidString)
        try JSONEncoder().encode(changes).write(to: draft)
        defer { try? FileManager.default.removeItem(at: draft) }
        // A link is made completely or not at all, and never replaces a file.
        return link(draft.path, file(changes.sequence).path) == 0
    }

    /// Applies the change sets that a store does not have, and appends its own, until there are no more.
    package func exchange(_ coordinator: PersistentStoreCoordinator) throws {
        try receive(coordinator)
        while let changes = try coordinator.changeSet() {
            _ = try append(changes)
            try receive(coordinator)
        }
    }

    /// Applies the change sets that a store does not have.
    ///
    /// One process at a time does so. Each process receives before it appends again, so that the order is extended at
    /// most once by each other process meanwhile, and the slowest process reaches its end.
    private func receive(_ coordinator: PersistentStoreCoordinator) throws {
        let turn = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(turn) }
        while flock(turn, LOCK_EX) != 0 {
            guard errno == EINTR else { throw CocoaError(.fileReadUnknown) }
        }
        while true {
            let next = try coordinator.exchangeState().position + 1
            guard let data = try? Data(contentsOf: file(next)) else { return }
            let changes = try JSONDecoder().decode(ChangeSet.self, from: data)
            do {
                try coordinator.apply(changes)
            } catch ExchangeError.outOfSequence {
                // Another process with the same store was faster.
                continue
            }
        }
    }
}

extension Bookcase {
    /// Inserts books with ascending numbers and exchanges the changes, until the process is killed. Each saved number
    /// is acknowledged.
    package static func exchange(
        _ url: URL,
        through folder: URL,
        from first: Int,
        acknowledge: (String) -> Void
    ) throws {
        let context = try open(url, history: HistoryOptions(identifiesObjects: true))
        context.mergePolicy = .mergeByPropertyObjectTrump
        let log = ExchangeFolder(folder)
        var random = SeededGenerator(seed: UInt64(first))
        var number = first
        while true {
            try insertBook(number, in: context)
            if let book = random.pick(try all("Book", in: context)) { book["title"] = .text("book \(number)") }
            try context.save()
            acknowledge("\(number)\n")
            number += 1
            try log.exchange(context.coordinator)
        }
    }
}
