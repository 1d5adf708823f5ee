import Testing

@Suite("@ModelActor")
struct ModelActorTests {
    @Test func `an actor gets an executor, a container and an initializer`() {
        expect(
            "@ModelActor public actor Store {}",
            expandsTo: """
                public actor Store {

                    public nonisolated let modelExecutor: any SealedData.ModelExecutor

                    public nonisolated let modelContainer: SealedData.ModelContainer

                    public init(modelContainer: SealedData.ModelContainer) {
                        let modelContext = SealedData.ModelContext(modelContainer)
                        self.modelExecutor = SealedData.DefaultSerialModelExecutor(modelContext: modelContext)
                        self.modelContainer = modelContainer
                    }
                }

                extension Store: SealedData.ModelActor {
                }
                """,
            with: Specs.modelActor
        )
    }

    @Test func `a class is refused and can become an actor`() {
        expect(
            "@ModelActor class Store {}",
            isRefusedWith: ["'@ModelActor' cannot be applied to class type 'Store'; declare it as 'actor'"],
            leadsTo: "@ModelActor actor Store {}",
            with: Specs.modelActor
        )
    }
}
