import SealedData
import Testing

@Suite("Observers of persisted properties")
struct PropertyObserverTests {
    /// Collects the calls of observers; a class so that observers of several objects share it.
    final class Journal {
        var entries: [String] = []
    }

    @Model final class Account {
        @Transient var journal = Journal()
        var balance: Int {
            willSet { journal.entries.append("will \(balance) -> \(newValue)") }
            didSet { journal.entries.append("did \(oldValue) -> \(balance)") }
        }
        var limit = 10 {
            didSet(previous) { if limit < 0 { limit = previous } }
        }
        var name: String = "" {
            didSet {
                self.name = name.lowercased()
                changes += 1
            }
        }
        var changes = 0
        var note: String? {
            willSet(next) {
                guard let next else { return }
                journal.entries.append("note \(next)")
            }
        }

        init(balance: Int) { self.balance = balance }
    }

    @Test func `observers run around a change`() {
        let account = Account(balance: 1)
        account.balance = 2
        #expect(account.journal.entries == ["will 1 -> 2", "did 1 -> 2"])
    }

    @Test func `the first assignment in an initializer is not observed`() {
        #expect(Account(balance: 1).journal.entries == [])
    }

    @Test func `an observer may change its property without being called again`() {
        let account = Account(balance: 1)
        account.limit = 20
        account.limit = -1
        #expect(account.limit == 20)
        account.name = "ABC"
        #expect(account.name == "abc")
        #expect(account.changes == 1)
    }

    @Test func `a return in an observer ends only the observer`() {
        let account = Account(balance: 1)
        account.note = nil
        account.note = "x"
        #expect(account.note == "x")
        #expect(account.journal.entries == ["note x"])
    }

    @Test func `reading from the store is not observed`() throws {
        let new = Account(balance: 1)
        new.name = "X"
        let saved = try Saved(new)
        #expect(saved.model.balance == 1)
        #expect(saved.model.name == "x")
        #expect(saved.model.changes == 1)
        #expect(saved.model.journal.entries == [])
        saved.model.balance += 1
        #expect(saved.model.journal.entries == ["will 1 -> 2", "did 1 -> 2"])
    }
}
