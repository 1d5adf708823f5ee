import Foundation
@testable import ObjectGraph
@testable import SealedStore
import Synchronization
import TestSupport
import Testing

@Suite("Primary keys for several threads, and inside batch requests") struct PrimaryKeySequenceTests {
    // first thread                          second thread
    // takes keys, none is reserved
    // reserves: holds the writer
    //                                       takes keys, gets them from a separate reservation
    // completes its reservation
    @Test func `a thread gets keys while another thread reserves keys`() throws {
        let sequences = PrimaryKeySequences()
        let next = Atomic<Int64>(1)
        let reserve: @Sendable (Int) -> Range<Int64> = { count in
            let first = next.add(Int64(count), ordering: .relaxed).oldValue
            return first..<first + Int64(count)
        }
        let isReserving = DispatchSemaphore(value: 0)
        let hasKeys = DispatchSemaphore(value: 0)
        DispatchQueue(label: "second thread").async {
            isReserving.wait()
            _ = try? sequences.keys(3, reserve: reserve)
            hasKeys.signal()
        }
        let keys = try sequences.keys(100) { count in
            isReserving.signal()
            hasKeys.wait()
            return reserve(count)
        }
        #expect(keys.count == 100 && Set(keys).count == 100)
        let later = try sequences.keys(200, reserve: reserve)
        #expect(Set(later).isDisjoint(with: keys) && Set(later).count == 200)
    }

    // batch request                         saver
    // begins, holds the writer
    //                                       saves new objects: waits for the writer
    // its closure obtains identifiers
    // commits
    //                                       commits
    @Test func `a closure of a batch request gets identifiers while another thread saves`() throws {
        let folder = TemporaryFolder()
        let library = try Library(folder.file("library.store"))
        let saver = ManagedObjectContext(coordinator: library.coordinator)
        let scratch = ManagedObjectContext(coordinator: library.coordinator)
        let tag = library.entity("Tag")
        let work = SavingThread(saver, tag)
        var rest = 200
        try library.context.execute(
            BatchInsertRequest(tag) {
                if rest == 200 { work.start() }
                rest -= 1
                guard rest >= 0 else { return nil }
                let object = ManagedObject(entity: tag, insertInto: scratch)
                try scratch.obtainPermanentIDs(for: [object])
                return ["label": .text("\(rest)")]
            }
        )
        try work.wait()
        let keys = try library.keys("Tag", nil)
        #expect(keys.count == 200 + SavingThread.count)
        #expect(Set(keys).isDisjoint(with: scratch.insertedObjects.map(\.managedObjectID.key)))
        #expect(try library.check().isEmpty)
    }

    @Test func `identifiers that a closure took stay reserved when its batch request is rolled back`() throws {
        struct Stop: Error {}
        let folder = TemporaryFolder()
        let library = try Library(folder.file("library.store"))
        let tag = library.entity("Tag")
        let object = library.insert("Tag", ["label": .text("own")])
        let batch = ManagedObjectContext(coordinator: library.coordinator)
        #expect(throws: Stop.self) {
            try batch.execute(
                BatchInsertRequest(tag) { [context = library.context] in
                    try context.obtainPermanentIDs(for: [object])
                    throw Stop()
                }
            )
        }
        let key = object.managedObjectID.key
        #expect(key > 0)
        let other = try Library(folder.file("library.store"))
        for number in 0..<100 { other.insert("Tag", ["label": .text("\(number)")]) }
        try other.context.save()
        #expect(try !other.keys("Tag", nil).contains(key))
        try library.context.save()
        #expect(try library.keys("Tag", nil).count == 101)
        #expect(try library.check().isEmpty)
    }

    @Test func `an impossible number of identifiers is an error, and reserves none`() throws {
        let folder = TemporaryFolder()
        let library = try Library(folder.file("library.store"))
        let (store, tag) = (try library.store(), library.entity("Tag"))
        #expect(throws: SealedStoreError.self) { try store.obtainPermanentIDs(for: tag, count: .max) }
        for count in [0, -1, .min] { #expect(try store.obtainPermanentIDs(for: tag, count: count).isEmpty) }
        #expect(try store.obtainPermanentIDs(for: tag, count: 3).map(\.key) == [1, 2, 3])
    }
}

/// Saves new objects on a separate thread.
///
/// `@unchecked Sendable`: only the thread uses the context, from its start to its end. It writes `failure` before it
/// signals `isDone`, and another thread reads it afterwards.
private final class SavingThread: @unchecked Sendable {
    static let count = 50
    private let context: ManagedObjectContext
    private let entity: Entity
    private let isDone = DispatchSemaphore(value: 0)
    private var failure: (any Error)?

    init(_ context: ManagedObjectContext, _ entity: Entity) {
        self.context = context
        self.entity = entity
    }

    func start() {
        DispatchQueue(label: "saver").async { [self] in
            do {
                for number in 0..<Self.count {
                    let object = ManagedObject(entity: entity, insertInto: context)
                    object["label"] = .text("saved \(number)")
                    try context.save()
                }
            } catch {
                failure = error
            }
            isDone.signal()
        }
    }

    func wait() throws {
        isDone.wait()
        if let failure { throw failure }
    }
}

extension PrimaryKeySequences {
    /// Keys of the first root entity.
    fileprivate func keys(_ count: Int, reserve: (Int) throws -> Range<Int64>) throws -> [Int64] {
        var keys: [Int64] = []
        try take(count, rootIndex: 0, reserve: reserve) { keys += $0 }
        return keys
    }
}
