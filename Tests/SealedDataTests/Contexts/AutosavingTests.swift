import Guarded
import ObjectGraph
import SealedData
import Testing

@Suite("Autosaving of the main context") struct AutosavingTests {
    @Model
    final class Measurement {
        var value: Double

        init(value: Double) { self.value = value }
    }

    private let container = try! ModelContainer(
        for: Measurement.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )

    /// Runs all pending jobs of the main actor.
    @MainActor private func settle(_ context: ModelContext) async {
        for _ in 0..<1000 where context.hasChanges { await Task.yield() }
    }

    @Test @MainActor func `after a failed save the next change saves again`() async throws {
        let context = container.mainContext
        let broken = Measurement(value: .nan)
        context.insert(broken)
        await settle(context)
        #expect(context.hasChanges)
        broken.value = 1
        context.insert(Measurement(value: 2))
        await settle(context)
        #expect(!context.hasChanges)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Measurement>()) == 2)
    }

    @Test @MainActor func `changes made before autosaving is enabled are saved`() async throws {
        let context = container.mainContext
        context.autosaveEnabled = false
        context.insert(Measurement(value: 1))
        context.autosaveEnabled = true
        await settle(context)
        #expect(!context.hasChanges)
    }

    @Test @MainActor func `a failing save can be repaired by a rollback`() async throws {
        let context = container.mainContext
        context.insert(Measurement(value: .nan))
        await settle(context)
        context.rollback()
        context.insert(Measurement(value: 2))
        await settle(context)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Measurement>()).map(\.value) == [2])
    }

    @Model
    final class Altitude {
        var value: Double

        init(value: Double) { self.value = value }
    }

    @Test @MainActor func `a failure after a successful save is reported again`() async throws {
        let count = Guarded(0)
        let previous = RuntimeIssues.handler
        RuntimeIssues.handler = { message in
            if message.contains("Altitude") { count.withLock { $0 += 1 } } else { previous(message) }
        }
        defer { RuntimeIssues.handler = previous }
        let container = try ModelContainer(
            for: Altitude.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = container.mainContext
        for round in 1...2 {
            let broken = Altitude(value: .nan)
            context.insert(broken)
            await settle(context)
            context.insert(Altitude(value: 0))
            await settle(context)
            #expect(count.withLock { $0 } == round, "repeated failures are reported once")
            broken.value = 1
            try context.save()
        }
    }
}
