import SealedData
import Testing

@Suite("A main context that saves by itself") struct AutosavingTests {
    @Model
    final class Measurement {
        var value: Double

        init(value: Double) { self.value = value }
    }

    private let container = try! ModelContainer(
        for: Measurement.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )

    /// Lets everything run that waits for the main actor.
    @MainActor private func settle(_ context: ModelContext) async {
        for _ in 0..<1000 where context.hasChanges { await Task.yield() }
    }

    @Test @MainActor func `after a save that failed, the next change tries again`() async throws {
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

    @Test @MainActor func `what was changed before it was told to is saved`() async throws {
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
}
