import Dispatch
import Foundation
import Guarded
import SealedData
import Testing

@Suite("Autosaving contexts of actors") struct ActorAutosavingTests {
    @Model
    final class Measurement {
        var value: Double

        init(value: Double) { self.value = value }
    }

    private let container = try! ModelContainer(
        for: Measurement.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )

    private func savedValues() throws -> [Double] {
        try ModelContext(container).fetch(FetchDescriptor<Measurement>(sortBy: [SortDescriptor(\.value)])).map(\.value)
    }

    @ModelActor
    actor Laboratory {
        func setAutosaving(_ isEnabled: Bool) { modelContext.autosaveEnabled = isEnabled }

        func insert(_ value: Double) { modelContext.insert(Measurement(value: value)) }

        func hasChanges() -> Bool { modelContext.hasChanges }

        /// Runs the pending jobs of the actor until its context has no changes.
        func settle() async {
            for _ in 0..<10_000 where modelContext.hasChanges { await Task.yield() }
        }

        func repair() throws {
            for measurement in modelContext.insertedModelsArray { (measurement as? Measurement)?.value = 0 }
            modelContext.insert(Measurement(value: 1))
        }
    }

    @Test func `a model actor saves soon after each change`() async throws {
        let laboratory = Laboratory(modelContainer: container)
        await laboratory.setAutosaving(true)
        for value in [1.0, 2, 3] {
            await laboratory.insert(value)
            await laboratory.settle()
            #expect(await !laboratory.hasChanges())
            #expect(try savedValues().last == value)
        }
    }

    @Test func `autosaving of a model actor is off by default and can be switched off again`() async throws {
        let laboratory = Laboratory(modelContainer: container)
        await laboratory.insert(1)
        await laboratory.insert(2)
        #expect(await laboratory.hasChanges())
        await laboratory.setAutosaving(true)
        await laboratory.settle()
        #expect(try savedValues() == [1, 2])
        await laboratory.setAutosaving(false)
        await laboratory.insert(3)
        for _ in 0..<100 { await Task.yield() }
        #expect(await laboratory.hasChanges())
        #expect(try savedValues() == [1, 2])
    }

    @Test func `a model actor saves again with the next change after a failed save`() async throws {
        let laboratory = Laboratory(modelContainer: container)
        await laboratory.setAutosaving(true)
        await laboratory.insert(.nan)
        for _ in 0..<100 { await Task.yield() }
        #expect(await laboratory.hasChanges())
        try await laboratory.repair()
        await laboratory.settle()
        #expect(try savedValues() == [0, 1])
    }

    /// Configures its context before its executor exists, as in programs with a handwritten initializer.
    actor Workshop: ModelActor {
        nonisolated let modelContainer: ModelContainer
        nonisolated let modelExecutor: any ModelExecutor

        init(_ container: ModelContainer) {
            let context = ModelContext(container)
            context.autosaveEnabled = true
            context.insert(Measurement(value: 7))
            modelContainer = container
            modelExecutor = DefaultSerialModelExecutor(modelContext: context)
        }

        func settle() async {
            for _ in 0..<10_000 where modelContext.hasChanges { await Task.yield() }
        }
    }

    @Test func `a context configured before its executor saves its changes`() async throws {
        let workshop = Workshop(container)
        await workshop.settle()
        #expect(try savedValues() == [7])
    }

    /// A custom model executor on a queue of the program.
    ///
    /// `@unchecked Sendable`: only jobs use the context, and they run one after the other.
    final class QueueExecutor: SerialModelExecutor, @unchecked Sendable {
        let modelContext: ModelContext
        private let queue = DispatchQueue(label: "QueueExecutor")
        static let key = DispatchSpecificKey<Bool>()

        init(_ context: ModelContext) {
            modelContext = context
            queue.setSpecific(key: Self.key, value: true)
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let executor = asUnownedSerialExecutor()
            queue.async { job.runSynchronously(on: executor) }
        }

        func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
    }

    actor Archive: ModelActor {
        nonisolated let modelContainer: ModelContainer
        nonisolated let modelExecutor: any ModelExecutor

        init(_ container: ModelContainer) {
            modelContainer = container
            modelExecutor = QueueExecutor(ModelContext(container))
        }

        func insert(_ value: Double) {
            modelContext.autosaveEnabled = true
            modelContext.insert(Measurement(value: value))
        }

        func settle() async {
            for _ in 0..<10_000 where modelContext.hasChanges { await Task.yield() }
        }
    }

    @Test func `a context saves on a custom executor`() async throws {
        let isOnQueue = Guarded<[Bool]>([])
        let token = NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: nil, queue: nil) {
            guard let context = $0.object as? ModelContext, context.author == "archive" else { return }
            let hasKey = DispatchQueue.getSpecific(key: QueueExecutor.key) ?? false
            isOnQueue.withLock { $0.append(hasKey) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let archive = Archive(container)
        await archive.run { $0.modelContext.author = "archive" }
        await archive.insert(5)
        await archive.settle()
        #expect(try savedValues() == [5])
        #expect(isOnQueue.withLock { $0 } == [true])
    }

    /// An actor that creates a context without being a model actor.
    actor Station {
        private let container: ModelContainer
        private let context: ModelContext
        private lazy var later = ModelContext(container, isolation: self)
        private var ofMethod: ModelContext?

        init(_ container: ModelContainer) {
            self.container = container
            context = ModelContext(container)
        }

        /// Uses the context of the initializer.
        func insert(_ value: Double) {
            context.enableAutosave(on: self)
            context.insert(Measurement(value: value))
        }

        /// Uses the context of a lazy property.
        func insertLater(_ value: Double) {
            later.autosaveEnabled = true
            later.insert(Measurement(value: value))
        }

        /// Uses a context that a method creates.
        func insertByMethod(_ value: Double) {
            let context = ModelContext(container)
            ofMethod = context
            context.autosaveEnabled = true
            context.insert(Measurement(value: value))
        }

        func settle() async {
            for context in [context, later, ofMethod].compactMap(\.self) {
                for _ in 0..<10_000 where context.hasChanges { await Task.yield() }
            }
        }

        /// Uses a context without references afterwards.
        func insertAndForget(_ value: Double) {
            let context = ModelContext(container)
            context.autosaveEnabled = true
            context.insert(Measurement(value: value))
        }
    }

    @Test func `a context created by an actor saves on the actor`() async throws {
        let station = Station(container)
        await station.insert(1)
        await station.insertLater(2)
        await station.insertByMethod(3)
        await station.settle()
        #expect(try savedValues() == [1, 2, 3])
    }

    @Test func `a context of a dispatch queue saves on the queue`() async throws {
        let queue = DispatchQueue(label: "own")
        let container = container
        let context = await withCheckedContinuation { continuation in
            queue.async {
                let context = ModelContext(container)
                context.enableAutosave(on: queue)
                context.insert(Measurement(value: 1))
                context.insert(Measurement(value: 2))
                continuation.resume(returning: QueueContext(context: context))
            }
        }
        // The save is the next block.
        #expect(queue.sync { !context.context.hasChanges })
        #expect(try savedValues() == [1, 2])
    }

    /// `@unchecked Sendable`: only blocks of the queue use the context.
    private struct QueueContext: @unchecked Sendable {
        let context: ModelContext
    }

    @Test func `a context released right after a change still saves it`() async throws {
        let station = Station(container)
        await station.insertAndForget(4)
        for _ in 0..<10_000 where try savedValues().isEmpty { await Task.yield() }
        #expect(try savedValues() == [4])
    }

    @Test @MainActor func `a context created on the main actor saves on the main actor`() async throws {
        let context = ModelContext(container)
        #expect(!context.autosaveEnabled)
        context.autosaveEnabled = true
        context.insert(Measurement(value: 6))
        for _ in 0..<1000 where context.hasChanges { await Task.yield() }
        #expect(try savedValues() == [6])
    }

    @Test func `a context without an actor keeps its changes until it is saved`() async throws {
        let container = container
        let hadChanges = await withCheckedContinuation { continuation in
            DispatchQueue(label: "plain").async {
                let context = ModelContext(container)
                context.autosaveEnabled = true
                context.insert(Measurement(value: 8))
                continuation.resume(returning: context.autosaveEnabled && context.hasChanges)
            }
        }
        #expect(hadChanges)
        for _ in 0..<100 { await Task.yield() }
        #expect(try savedValues().isEmpty)
    }
}

extension ActorAutosavingTests.Archive {
    /// Runs code on the actor.
    fileprivate func run(_ body: @Sendable (isolated ActorAutosavingTests.Archive) -> Void) { body(self) }
}
