import Foundation
import ObjectGraph
import Testing

/// A context that a program uses on two threads, which is a programming error.
@Suite struct SavingOnTwoThreadsTests {
    /// Calls `use` in `willSave()`.
    final class Intruder: ManagedObject {
        var use: (() -> Void)?
        override func willSave() { use?() }
    }

    /// A value that is passed to another thread.
    ///
    /// `@unchecked Sendable`: the first thread waits until the other one has finished.
    private struct Transferred<T>: @unchecked Sendable { let value: T }

    private func outcome(
        of use: @escaping (ManagedObjectContext) throws -> Void,
        onAnotherThread: Bool = true
    ) throws -> (error: (any Error)?, store: TestStore) {
        let store = try TestStore(.reference, classes: ["Author": Intruder.self])
        let context = store.context()
        let author = Intruder(entity: store.model.entitiesByName["Author"]!, insertInto: context)
        author["name"] = "a"
        var error: (any Error)?
        // save                    another thread
        // willSave, waits
        //                         use: an error
        // writes
        author.use = {
            let outcome = Transferred(value: Outcome())
            let transferred = Transferred(value: (context, use))
            let attempt: @Sendable () -> Void = {
                do { try transferred.value.1(transferred.value.0) } catch { outcome.value.error = error }
            }
            if onAnotherThread {
                let thread = Thread(block: {
                    attempt()
                    outcome.value.ended.signal()
                })
                thread.start()
                outcome.value.ended.wait()
            } else {
                attempt()
            }
            error = outcome.value.error
        }
        try context.save()
        return (error, store)
    }

    private final class Outcome {
        var error: (any Error)?
        let ended = DispatchSemaphore(value: 0)
    }

    private func isUsedByAnotherThread(_ error: (any Error)?) -> Bool {
        if case .usedByAnotherThread? = error as? ObjectGraphError { true } else { false }
    }

    @Test func `a second save names the other thread as the cause`() throws {
        let (error, store) = try outcome { try $0.save() }
        #expect(isUsedByAnotherThread(error), "\(String(describing: error))")
        #expect("\(try #require(error))".contains("one thread"))
        #expect(try store.context().all("Author").count == 1)
    }

    @Test func `a fetch on another thread names the save as the cause`() throws {
        #expect(isUsedByAnotherThread(try outcome { _ = try $0.all("Author") }.error))
        #expect(isUsedByAnotherThread(try outcome { _ = try $0.count($0.request("Author")) }.error))
        #expect(isUsedByAnotherThread(try outcome { _ = try $0.fetchIDs($0.request("Author")) }.error))
    }

    @Test func `the thread of the save may fetch, and a save on it throws`() throws {
        #expect(try outcome(of: { _ = try $0.all("Author") }, onAnotherThread: false).error == nil)
        let error = try outcome(of: { try $0.save() }, onAnotherThread: false).error as? ObjectGraphError
        guard case .saveInProgress? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
