import Foundation
import ObjectGraph
import SealedData
import TestSupport
import Testing

@Suite("Unique values in a class hierarchy") struct SubclassUpsertTests {
    @Model
    class Document {
        @Attribute(.unique) var title: String
        var pages = 1

        init(title: String) { self.title = title }
    }

    @Model
    final class Letter: Document {
        var recipient = "none"
    }

    @Model
    final class Invoice: Document {
        var amount = 0
    }

    private let container = try! ModelContainer(
        for: Document.self,
        Letter.self,
        Invoice.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )

    private func saved() throws -> [Document] {
        try ModelContext(container).fetch(FetchDescriptor<Document>(sortBy: [SortDescriptor(\.title)]))
    }

    @Test func `a new object of the same class becomes an update`() throws {
        let context = ModelContext(container)
        context.insert(Letter(title: "a"))
        try context.save()
        let letter = Letter(title: "a")
        letter.recipient = "Ann"
        context.insert(letter)
        try context.save()
        #expect(try saved().map { ($0 as? Letter)?.recipient } == ["Ann"])
    }

    @Test func `a new object of another class is an error and stays unchanged`() throws {
        let context = ModelContext(container)
        let letter = Letter(title: "a")
        letter.recipient = "Ann"
        context.insert(letter)
        try context.save()
        for other in [Invoice(title: "a"), Document(title: "a")] {
            other.pages = 7
            (other as? Invoice)?.amount = 100
            context.insert(other)
            let error = try #require(throws: ObjectGraphError.self) { try context.save() }
            guard case .notUnique = error else { throw error }
            #expect("\(error)".contains("title") && "\(error)".contains("Letter"))
            #expect(other.modelContext === context)
            #expect(other.pages == 7)
            #expect((other as? Invoice)?.amount ?? 100 == 100)
            #expect(letter.pages == 1)
            #expect(try saved().filter { $0.title == "a" }.map { ($0 as? Letter)?.recipient } == ["Ann"])
            other.title = "b \(type(of: other))"
            try context.save()
        }
        #expect(try saved().map(\.pages) == [1, 7, 7])
    }

    @Test func `an object of another class that another container saved is an error too`() throws {
        let folder = TemporaryFolder()
        func open() throws -> ModelContainer {
            try ModelContainer(
                for: Document.self,
                Letter.self,
                Invoice.self,
                configurations: ModelConfiguration(url: folder.file("s"), key: .ofTests)
            )
        }
        let (first, second) = (ModelContext(try open()), ModelContext(try open()))
        second.insert(Invoice(title: "a"))
        first.insert(Letter(title: "a"))
        try first.save()
        #expect(throws: ObjectGraphError.self) { try second.save() }
        #expect(second.insertedModelsArray.count == 1)
        #expect(try first.fetchCount(FetchDescriptor<Document>()) == 1)
    }
}
