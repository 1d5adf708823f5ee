import ObjectGraph
import Testing

@Suite("Background contexts") struct BackgroundContextTests {
    @Test(arguments: StoreKind.allCases)
    func `several background contexts save at once, and no save is lost`(kind: StoreKind) async throws {
        let store = try TestStore(kind)
        let coordinator = store.coordinator
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                let background = BackgroundContext(coordinator: coordinator)
                group.addTask {
                    for round in 0..<10 {
                        try await background.perform { context in
                            let author = context.make("Author", ["name": .text("\(number).\(round)")])
                            author[many: "books"] = [context.make("Book")]
                            try context.save()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let context = store.context()
        #expect(try context.all("Author").names.count == 40)
        #expect(try context.all("Author").allSatisfy { $0[many: "books"].count == 1 })
        #expect(try store.problems() == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `blocks run in the order of their calls, and their errors are thrown`(kind: StoreKind) async throws {
        struct Refusal: Error {}
        let store = try TestStore(kind)
        let background = BackgroundContext(coordinator: store.coordinator)
        let id = try await background.perform { context in
            let author = context.make("Author", ["name": "x"])
            try context.save()
            return author.managedObjectID
        }
        await #expect(throws: Refusal.self) { try await background.perform { _ in throw Refusal() } }
        let name = try await background.perform { context in
            try context.existingObject(with: id).map { ($0 as! ManagedObject).text("name") }
        }
        #expect(name == "x")
    }
}
