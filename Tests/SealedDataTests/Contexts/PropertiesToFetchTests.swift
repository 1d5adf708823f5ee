import Foundation
import ObjectGraph
import SealedData
import Testing

@Model final class Letter {
    let number: Int
    var subject: String
    var body: String
    var sender: Sender?
    var isRead = false

    init(number: Int, subject: String, body: String, sender: Sender? = nil) {
        self.number = number
        self.subject = subject
        self.body = body
        self.sender = sender
    }
}

@Model final class Sender {
    var name: String
    var letters: [Letter] = []

    init(name: String) {
        self.name = name
    }
}

@Suite("Partially fetched models") struct PropertiesToFetchTests {
    private let container: ModelContainer

    init() throws {
        container = try ModelContainer(
            for: Letter.self,
            Sender.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        let sender = Sender(name: "Natsume")
        for number in 0..<50 {
            context.insert(
                Letter(number: number, subject: "subject \(number)", body: "body \(number)", sender: sender)
            )
        }
        try context.save()
    }

    private func fetch(_ context: ModelContext, _ keyPaths: [PartialKeyPath<Letter>]) throws -> [Letter] {
        var descriptor = FetchDescriptor<Letter>(sortBy: [SortDescriptor(\.subject)])
        descriptor.propertiesToFetch = keyPaths
        return try context.fetch(descriptor).sorted { $0.number < $1.number }
    }

    @Test func `every property has its value, fetched or not`() throws {
        let context = ModelContext(container)
        let letters = try fetch(context, [\.subject])
        #expect(letters.allSatisfy { $0.isFault })
        #expect(letters.map(\.number) == Array(0..<50))
        #expect(letters.map(\.subject) == (0..<50).map { "subject \($0)" })
        #expect(letters.allSatisfy { $0.isFault })
        #expect(letters.map(\.body) == (0..<50).map { "body \($0)" })
        #expect(letters.allSatisfy { $0.sender?.name == "Natsume" })
        #expect(!letters.contains { $0.isFault })
    }

    @Test func `a relationship can be fetched alone`() throws {
        let context = ModelContext(container)
        let letters = try fetch(context, [\.sender])
        #expect(letters.allSatisfy { $0.sender?.name == "Natsume" })
        #expect(letters.allSatisfy { $0.isFault })
    }

    @Test func `changes of partially fetched models are saved`() throws {
        let context = ModelContext(container)
        let letters = try fetch(context, [\.subject])
        letters[1].isRead = true
        letters[2].subject = "changed"
        try context.save()
        let fresh = ModelContext(container)
        let all = try fetch(fresh, [])
        #expect(!all.contains { $0.isFault })
        #expect(all.filter(\.isRead).map(\.number) == [1])
        #expect(all[2].subject == "changed")
        #expect(all[2].body == "body 2")
    }

    @Test func `enumerated models can be partial`() throws {
        let context = ModelContext(container)
        var descriptor = FetchDescriptor<Letter>()
        descriptor.propertiesToFetch = [\.subject]
        var count = 0
        try context.enumerate(descriptor, batchSize: 20) { letter in
            #expect(letter.isFault)
            #expect(letter.subject == "subject \(letter.number)")
            count += 1
        }
        #expect(count == 50)
    }

    @Test func `a key path that is not a persisted property is refused`() throws {
        let context = ModelContext(container)
        #expect(throws: SwiftDataError.self) { try fetch(context, [\.subject.count]) }
    }
}
