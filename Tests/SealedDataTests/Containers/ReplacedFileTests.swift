import EncryptedSQLite
import Foundation
import ObjectGraph
@testable import SealedData
import TestSupport
import Testing

@Model private final class ReplacedAccount {
    var owner: String
    var balance: Int
    @Attribute(.externalStorage) var image: Data?
    var payments: [ReplacedPayment] = []

    init(_ owner: String, _ balance: Int) {
        self.owner = owner
        self.balance = balance
    }
}

@Model private final class ReplacedPayment {
    var text: String
    @Relationship(inverse: \ReplacedAccount.payments) var account: ReplacedAccount?

    init(_ text: String, _ account: ReplacedAccount?) {
        self.text = text
        self.account = account
    }
}

/// Backups that take the place of the file while a container is locked or suspended. Their rows have the keys, and often
/// the versions, of other rows that the container has read.
@Suite("Files that are replaced by a backup") struct ReplacedFileTests {
    enum Pause: CaseIterable { case lock, suspension }

    /// A number of objects with more keys than the container has reserved before a backup: the last ones get the same
    /// keys as new objects of the restored file.
    private static let count = 150

    private let folder = TemporaryFolder()
    private let url: URL
    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        url = folder.file("accounts.store")
        container = try Self.open(url)
        context = ModelContext(container)
        context.autosaveEnabled = false
        for name in ["kept", "changed"] {
            let account = ReplacedAccount(name, 0)
            context.insert(account)
            context.insert(ReplacedPayment("of \(name)", account))
        }
        try context.save()
    }

    private static func open(_ url: URL) throws -> ModelContainer {
        try ModelContainer(for: ReplacedAccount.self, configurations: ModelConfiguration(url: url, key: .ofTests))
    }

    /// Puts a backup of the present state in place after `lose`, lets another container change it, and continues.
    private func restoreBackup(_ pause: Pause, losing lose: () throws -> Void, changing: (ModelContext) throws -> Void)
        throws
    {
        let backup = folder.file("backup")
        try container.backUp(to: backup)
        try lose()
        switch pause {
        case .lock: container.lock()
        case .suspension: container.suspend()
        }
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: url.path + suffix) {
            try FileManager.default.removeItem(atPath: url.path + suffix)
        }
        try FileManager.default.moveItem(at: backup, to: url)
        let other = ModelContext(try Self.open(url))
        try changing(other)
        try other.save()
        switch pause {
        case .lock: try container.unlock(with: .ofTests)
        case .suspension: try container.resume()
        }
    }

    private func account(_ owner: String, in context: ModelContext) throws -> ReplacedAccount {
        let found = FetchDescriptor<ReplacedAccount>(predicate: #Predicate { $0.owner == owner })
        return try #require(try context.fetch(found).first)
    }

    private func values(in context: ModelContext) throws -> [String] {
        try context.fetch(FetchDescriptor<ReplacedAccount>(sortBy: [SortDescriptor(\.owner)])).map { account in
            "\(account.owner) \(account.balance) \(account.payments.map(\.text).sorted())"
        }
    }

    @Test(
        "Contexts read the objects of the restored file, whatever the versions of its rows",
        arguments: Pause.allCases
    )
    func cleanObjects(_ pause: Pause) throws {
        let changed = try account("changed", in: context)
        let lost = (0..<Self.count).map { ReplacedAccount("lost \($0)", $0) }
        let observer = try ResultsObserver(sortBy: [SortDescriptor(\ReplacedAccount.owner)], modelContext: context)
        try restoreBackup(pause) {
            for account in lost { context.insert(account) }
            // Three versions, of which the backup has the first.
            for balance in 1...3 {
                changed.balance = balance
                try context.save()
            }
            #expect(try values(in: context).count == Self.count + 2)
        } changing: { other in
            for number in 0..<Self.count { other.insert(ReplacedAccount("other \(number)", 100_000 + number)) }
            let account = try account("changed", in: other)
            account.balance = 7
            other.insert(ReplacedPayment("later", account))
        }
        let fresh = try values(in: ModelContext(container))
        #expect(fresh.count == Self.count + 2)
        #expect(try values(in: context) == fresh)
        let rich = FetchDescriptor<ReplacedAccount>(predicate: #Predicate { $0.balance >= 100_000 })
        #expect(try context.fetch(rich).allSatisfy { $0.balance >= 100_000 && $0.owner.hasPrefix("other") })
        #expect(try context.fetch(rich).count == Self.count)
        #expect(changed.balance == 7)
        #expect(changed.payments.count == 2)
        context.processPendingChanges()
        #expect(observer.results.map(\.owner) == observer.results.map(\.owner).sorted())
        #expect(
            Set(observer.results.map(\.owner))
                == Set(try context.fetch(FetchDescriptor<ReplacedAccount>()).map(\.owner))
        )
        #expect(!observer.results.contains { $0.owner.hasPrefix("lost") })
        #expect(try container.check().isSound)
    }

    /// Checks that a save reports conflicts of the accounts, and that dropping the changes ends them.
    private func expectConflict(_ accounts: [ReplacedAccount], _ context: ModelContext) throws {
        let ids = Set(accounts.map(\.persistentModelID))
        do {
            try context.save()
            Issue.record("the save was no conflict")
        } catch ObjectGraphError.conflicts(let conflicts) {
            #expect(Set(conflicts.map { PersistentIdentifier($0.objectID) }) == ids)
        }
        context.rollback()
        let fresh = ModelContext(container)
        #expect(try fresh.fetchCount(FetchDescriptor<ReplacedAccount>(predicate: #Predicate { $0.balance < 0 })) == 0)
        #expect(try values(in: context) == values(in: fresh))
        #expect(!context.hasChanges)
        #expect(try container.check().isSound)
    }

    @Test("Unsaved changes of objects that differ in the restored file are a conflict", arguments: Pause.allCases)
    func changedObjects(_ pause: Pause) throws {
        let (kept, changed) = (try account("kept", in: context), try account("changed", in: context))
        let lost = (0..<Self.count).map { ReplacedAccount("lost \($0)", $0) }
        try restoreBackup(pause) {
            for account in lost { context.insert(account) }
            changed.balance = 1
            try context.save()
            // Unsaved, while others get the same keys and versions.
            for account in lost { account.balance = -1 }
            changed.balance = -1
            kept.balance = -1
        } changing: { other in
            for number in 0..<Self.count {
                let account = ReplacedAccount("other \(number)", number)
                other.insert(account)
                other.insert(ReplacedPayment("of other \(number)", account))
            }
            try account("changed", in: other).balance = 7
        }
        // Reading the members of new owners does not end the conflict.
        #expect(lost.last?.payments.count == 1)
        try expectConflict(lost + [changed], context)
        #expect(changed.balance == 7)
        // An object with the same values in both files continues.
        kept.balance = 3
        changed.balance = 4
        try context.save()
        #expect(try account("changed", in: ModelContext(container)).balance == 4)
    }

    @Test(
        "New members and deletions of objects that differ in the restored file are a conflict",
        arguments: Pause.allCases
    )
    func members(_ pause: Pause) throws {
        let lost = (0..<Self.count).map { ReplacedAccount("lost \($0)", $0) }
        try restoreBackup(pause) {
            for account in lost { context.insert(account) }
            try context.save()
            lost[Self.count - 1].payments.append(ReplacedPayment("unsaved", nil))
            context.delete(lost[Self.count - 2])
        } changing: { other in
            for number in 0..<Self.count { other.insert(ReplacedAccount("other \(number)", number)) }
        }
        try expectConflict(Array(lost.suffix(2)), context)
    }

    @Test("Changes of a child context are a conflict, too")
    func childContext() throws {
        let lost = (0..<Self.count).map { ReplacedAccount("lost \($0)", $0) }
        let child = ManagedObjectContext(parent: context.graph)
        var object: (any GraphObject)?
        try restoreBackup(.suspension) {
            for account in lost { context.insert(account) }
            try context.save()
            let request = FetchRequest(try #require(child.coordinator.model.entitiesByName["ReplacedAccount"]))
            let found = try child.fetch(request, as: ReplacedAccount.self)
            let own = try #require(found.first { $0.owner == lost.last?.owner })
            own.balance = -1
            object = own
        } changing: { other in
            for number in 0..<Self.count { other.insert(ReplacedAccount("other \(number)", number)) }
        }
        let negative = FetchDescriptor<ReplacedAccount>(predicate: #Predicate { $0.balance < 0 })
        // A later commit reloads the child's objects from the parent, which does not end the conflict.
        for _ in 0..<2 {
            let error = #expect(throws: ObjectGraphError.self) { try child.save() }
            guard case .conflicts? = error else {
                Issue.record("the save of the child is no conflict")
                continue
            }
            context.graph.coordinator.announce(.unknown(.others))
        }
        child.rollback()
        try child.save()
        try context.save()
        #expect(try ModelContext(container).fetchCount(negative) == 0)
        withExtendedLifetime(object) {}
    }

    @Test("Unsaved changes stay, whatever the policy, if the file is the same one", arguments: Pause.allCases)
    func sameFile(_ pause: Pause) throws {
        let kept = try account("kept", in: context)
        kept.image = Data(repeating: 7, count: 20_000)
        try context.save()
        kept.balance = 9
        switch pause {
        case .lock: container.lock()
        case .suspension: container.suspend()
        }
        let other = ModelContext(try Self.open(url))
        try account("kept", in: other).owner = "renamed"
        try other.save()
        switch pause {
        case .lock: try container.unlock(with: .ofTests)
        case .suspension: try container.resume()
        }
        try context.save()
        let saved = try account("renamed", in: ModelContext(container))
        #expect(saved.balance == 9)
        #expect(saved.image?.count == 20_000)
    }

    @Test("Large values of a restored file that are the same are no conflict")
    func largeValues() throws {
        let kept = try account("kept", in: context)
        kept.image = Data(repeating: 7, count: 20_000)
        try context.save()
        try restoreBackup(.suspension) {
            kept.balance = 9
        } changing: { _ in
        }
        try context.save()
        #expect(try account("kept", in: ModelContext(container)).balance == 9)
    }

    @Test("An object that a restored file has again is no longer missing", arguments: Pause.allCases)
    func returnedObjects(_ pause: Pause) throws {
        let kept = try account("kept", in: context)
        try restoreBackup(pause) {
            context.delete(kept)
            try context.save()
        } changing: { other in
            try account("changed", in: other).balance = 1
        }
        #expect(try values(in: context) == values(in: ModelContext(container)))
        #expect(try values(in: context).count == 2)
    }

    @Test("A container that is locked or suspended continues with a restored backup", arguments: Pause.allCases)
    func restoration(_ pause: Pause) throws {
        let passphrase = EncryptionKey.passphrase("correct horse")
        let url = folder.file("passphrase.store")
        let container = try ModelContainer(
            for: ReplacedAccount.self,
            configurations: ModelConfiguration(url: url, key: passphrase)
        )
        let context = ModelContext(container)
        let account = ReplacedAccount("saved", 1)
        context.insert(account)
        try context.save()
        try container.backUp(to: folder.file("backup"))
        account.balance = 2
        try context.save()
        #expect(throws: DatabaseError.busy) {
            try ModelContainer.restore(folder.file("backup"), key: passphrase, to: url)
        }
        switch pause {
        case .lock: container.lock()
        case .suspension: container.suspend()
        }
        try ModelContainer.restore(folder.file("backup"), key: passphrase, to: url)
        switch pause {
        case .lock: try container.unlock(with: passphrase)
        case .suspension: try container.resume()
        }
        #expect(try context.fetchCount(FetchDescriptor<ReplacedAccount>()) == 1)
        #expect(account.balance == 1)
        account.balance = 3
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<ReplacedAccount>()).map(\.balance) == [3])
    }

    // A plain copy has the salt of the file, and on many file systems the number of the removed file.
    @Test("A plain copy in place of a removed file is another file", arguments: Pause.allCases)
    func plainCopy(_ pause: Pause) throws {
        let changed = try account("changed", in: context)
        let copy = folder.file("copy")
        container.suspend()
        try FileManager.default.copyItem(at: url, to: copy)
        try container.resume()
        changed.balance = 5
        try context.save()
        switch pause {
        case .lock: container.lock()
        case .suspension: container.suspend()
        }
        try FileManager.default.removeItem(at: url)
        try FileManager.default.copyItem(at: copy, to: url)
        switch pause {
        case .lock: try container.unlock(with: .ofTests)
        case .suspension: try container.resume()
        }
        #expect(try context.fetchCount(FetchDescriptor<ReplacedAccount>()) == 2)
        #expect(changed.balance == 0)
    }

    @Test("New objects get keys that the restored file has not", arguments: Pause.allCases)
    func newObjects(_ pause: Pause) throws {
        let new = ReplacedAccount("new", 5)
        try restoreBackup(pause) {
            context.insert(new)
            new.payments.append(ReplacedPayment("of new", nil))
        } changing: { other in
            for number in 0..<Self.count { other.insert(ReplacedAccount("other \(number)", number)) }
        }
        try context.save()
        #expect(try values(in: context) == values(in: ModelContext(container)))
        #expect(try values(in: context).count == Self.count + 3)
        #expect(try container.check().isSound)
    }
}
