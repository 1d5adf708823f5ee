import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import SealedTransfer
import TestSupport
import Testing

/// Exports of a store in which earlier versions of pages are in place of the present ones.
struct ReplayedExportTests {
    private static let text = String(repeating: "0123456789", count: 90)
    /// More rows than the pages of the file can hold.
    private static let largestCount: Int64 = 20_000

    private let folder = TemporaryFolder()
    private var file: URL { folder.file("store") }

    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Page",
                attributes: [AttributeDescription("text", .string)],
                relationships: [RelationshipDescription("links", to: "Page", .many)]
            )
        ])
    }

    /// A progress that cancels the work when it exceeds a number of objects.
    private final class LimitedProgress: Progress, @unchecked Sendable {
        override var completedUnitCount: Int64 {
            didSet { if completedUnitCount > ReplayedExportTests.largestCount { cancel() } }
        }
    }

    private func insert(_ count: Int, into store: TestStore) throws {
        var last: ManagedObject?
        for number in 0..<count {
            let page = store.insert("Page", ["text": .text(Self.text + String(number))])
            if let last, number % 4 == 0 { page.setMembers([last], for: "links") }
            last = page
        }
        try store.context.save()
        store.context.reset()
    }

    private func delete(from store: TestStore, _ isDeleted: (Int64) -> Bool) throws {
        let entity = store.context.model.entities[0]
        let keys = try store.context.fetchIDs(FetchRequest(entity)).map(\.key).filter(isDeleted)
        let predicate = QueryExpression.isMember(.variable(0), of: keys.map(Value.integer))
        _ = try store.context.execute(BatchDeleteRequest(entity, predicate: predicate))
    }

    /// Versions of the file whose trees have the same pages at other places.
    private func versions() throws -> FileVersions {
        var versions = FileVersions()
        let changes: [(TestStore) throws -> Void] = [
            { try insert(2500, into: $0) },
            { store in
                try delete(from: store) { $0 % 7 < 4 && $0 < 2000 }
                try insert(700, into: store)
            },
            { store in
                try delete(from: store) { $0 > 1500 && $0 % 3 == 0 }
                try insert(1200, into: store)
            },
            { store in
                try delete(from: store) { $0 < 700 || (2000..<3200).contains($0) }
                try insert(400, into: store)
            },
        ]
        for change in changes {
            let store = try TestStore(file, Self.model())
            try change(store)
            try store.close()
            try versions.add(file)
        }
        return versions
    }

    @Test(arguments: SeededGenerator.seeds(1)) func `no export writes objects twice or without end`(seed: UInt64) throws
    {
        var random = SeededGenerator(seed: seed)
        let versions = try versions()
        var damageCount = 0
        for version in 0..<versions.count - 1 {
            let outdated = versions.outdatedPages(of: version).shuffled(using: &random)
            for number in 0..<12 {
                // Also several pages at once: an inner page of a tree is one of some hundred.
                let pages = number % 2 == 0 ? [outdated[number]] : Array(outdated.prefix(outdated.count / (number + 1)))
                try versions.write(to: file, withPages: pages, of: version)
                let name = "\(version) \(number)"
                let export = StoreExport(from: file, key: Harbour.key)
                let forms: [(Progress) throws -> Void] = [
                    { try export.exportJSONLines(to: folder.file("\(name).jsonl"), progress: $0) },
                    { try export.exportCSV(to: folder.file("\(name).csv"), progress: $0) },
                    { try export.exportPlaintext(to: folder.file("\(name).db"), progress: $0) },
                ]
                let form = Int.random(in: 0..<forms.count, using: &random)
                do {
                    try forms[form](LimitedProgress(parent: nil))
                    guard form == 0 else { continue }
                    let lines = try String(contentsOf: folder.file("\(name).jsonl"), encoding: .utf8).split(
                        separator: "\n"
                    )
                    #expect(Set(lines).count == lines.count, "\(random) \(name)")
                } catch DatabaseError.damaged {
                    damageCount += 1
                } catch SealedStoreError.damagedRow {
                } catch {
                    Issue.record("\(random) \(name), form \(form): \(error)")
                }
            }
        }
        #expect(damageCount > 0, "\(random)")
        print(random, damageCount)
    }
}
