import Foundation
import SealedData
import Testing

/// Changes of the context by custom values while a save encodes them.
@Suite(.serialized) struct EncodingValuesTests {
    /// A value that runs a closure when it is encoded.
    struct Remark: Codable {
        nonisolated(unsafe) static var isBeingEncoded: (() -> Void)?
        var text: String

        init(_ text: String) { self.text = text }

        enum CodingKeys: CodingKey { case text }

        func encode(to encoder: any Encoder) throws {
            Remark.isBeingEncoded?()
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(text, forKey: .text)
        }
    }

    @Model
    final class Letter {
        var title: String
        var remark: Remark

        init(_ title: String, _ remark: String) {
            self.title = title
            self.remark = Remark(remark)
        }
    }

    @Model
    final class Envelope {
        var number: Int

        init(number: Int) { self.number = number }
    }

    private let container = try! ModelContainer(
        for: Letter.self,
        Envelope.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )

    /// Saves, and runs `action` when the first remark is encoded.
    private func save(_ context: ModelContext, _ action: @escaping () -> Void) throws {
        defer { Remark.isBeingEncoded = nil }
        Remark.isBeingEncoded = {
            Remark.isBeingEncoded = nil
            action()
        }
        try context.save()
        #expect(Remark.isBeingEncoded == nil, "nothing was encoded")
    }

    @Test func `an object whose deletion is reverted meanwhile stays`() throws {
        let context = ModelContext(container)
        let envelopes = (0..<3).map { Envelope(number: $0) }
        for envelope in envelopes { context.insert(envelope) }
        try context.save()
        for envelope in envelopes { context.delete(envelope) }
        context.insert(Letter("a", "b"))
        try save(context) { context.insert(envelopes[1]) }
        #expect(try ModelContext(container).fetch(FetchDescriptor<Envelope>()).map(\.number) == [1])
        #expect(try context.fetch(FetchDescriptor<Envelope>()).map(\.number) == [1])
    }

    @Test func `an object inserted meanwhile is saved, and a deleted one is not`() throws {
        let context = ModelContext(container)
        let letters = (0..<3).map { Letter("title \($0)", "remark \($0)") }
        for letter in letters { context.insert(letter) }
        try save(context) {
            context.insert(Envelope(number: 7))
            context.delete(letters[0])
        }
        #expect(!context.hasChanges)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Envelope>()).map(\.number) == [7])
        let titles = try ModelContext(container).fetch(FetchDescriptor<Letter>()).map(\.title)
        #expect(titles == ["title 1", "title 2"])
    }

    @Test func `values that insert an object at each encoding cannot be saved`() throws {
        let context = ModelContext(container)
        context.insert(Letter("a", "b"))
        defer { Remark.isBeingEncoded = nil }
        Remark.isBeingEncoded = { context.insert(Envelope(number: 1)) }
        #expect(throws: (any Error).self) { try context.save() }
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Letter>()) == 0)
        Remark.isBeingEncoded = nil
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Letter>()) == 1)
    }

    @Test func `changes may be made and reverted meanwhile`() throws {
        let context = ModelContext(container)
        let letters = (0..<3).map { Letter("title \($0)", "remark \($0)") }
        for letter in letters { context.insert(letter) }
        try save(context) {
            letters[0].title = String(repeating: "other ", count: 20)
            letters[0].remark = Remark("replaced")
            letters[2].title = "later"
        }
        try context.save()
        let saved = try ModelContext(container).fetch(FetchDescriptor<Letter>())
        #expect(saved.count == 3)
        #expect(Set(saved.map(\.remark.text)).isSuperset(of: ["remark 1", "remark 2"]))

        for letter in letters { letter.remark.text += "!" }
        try save(context) {
            for letter in letters { context.delete(letter) }
            context.rollback()
        }
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Letter>()) == 3)
    }
}
