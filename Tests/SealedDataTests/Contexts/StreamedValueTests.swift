import Foundation
import ObjectGraph
import SealedData
import SealedStore
import TestSupport
import Testing

/// Values that are read and written in parts.
@Suite struct StreamedValueTests {
    @Model final class Film {
        var title: String
        @Attribute(.externalStorage) var content: Data?
        var poster: Data?

        init(_ title: String) { self.title = title }
    }

    private let folder = TemporaryFolder()
    private let context: ModelContext
    private let film: Film

    private static let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 10) })

    init() throws {
        let container = try ModelContainer(
            for: Film.self,
            configurations: ModelConfiguration(url: folder.file("films.store"), key: .raw((0..<32).map { UInt8($0) }))
        )
        context = ModelContext(container)
        film = Film("Ikiru")
        context.insert(film)
        try context.save()
    }

    /// A source of the bytes of a value, in parts.
    private func parts(of data: Data, size: Int = 100_000) -> () throws -> Data {
        var offset = 0
        return {
            defer { offset += size }
            return data.dropFirst(offset).prefix(size)
        }
    }

    private func read(size: Int = 64_000) throws -> Data? {
        var data = Data()
        return try context.readValue(of: film, at: \.content, partSize: size) { data += $0 } ? data : nil
    }

    @Test func `a value that is written in parts is read in parts and at once`() throws {
        #expect(try read() == nil)
        let reader = ModelContext(context.container)
        let theirs = try #require(try reader.fetch(FetchDescriptor<Film>()).first)
        #expect(theirs.content == nil)
        try context.writeValue(of: film, at: \.content, byteCount: Self.content.count, from: parts(of: Self.content))
        #expect(try read() == Self.content)
        #expect(try read(size: 5_000_000) == Self.content)
        #expect(film.content == Self.content)
        _ = try reader.fetchCount(FetchDescriptor<Film>())
        #expect(theirs.content == Self.content)
        film.title = "Living"
        try context.save()
        #expect(try read() == Self.content)
        let small = Data([1, 2, 3])
        try context.writeValue(of: film, at: \.content, byteCount: 3, from: parts(of: small, size: 2))
        #expect(try read() == small)
        #expect(film.content == small)
        film.content = Data(repeating: 9, count: 1000)
        try context.save()
        #expect(try read() == Data(repeating: 9, count: 1000))
        #expect(try context.storeProblems() == [])
    }

    @Test func `a value whose parts end early or with an error is not written`() throws {
        struct Interruption: Error {}
        try context.writeValue(of: film, at: \.content, byteCount: Self.content.count, from: parts(of: Self.content))
        var count = 0
        #expect(throws: Interruption.self) {
            try context.writeValue(of: film, at: \.content, byteCount: 1_000_000) {
                count += 1
                if count == 4 { throw Interruption() }
                return Data(count: 100_000)
            }
        }
        #expect(throws: SealedStoreError.self) {
            try context.writeValue(of: film, at: \.content, byteCount: 1_000_000, from: parts(of: Data(count: 999)))
        }
        #expect(throws: SealedStoreError.self) {
            try context.writeValue(of: film, at: \.content, byteCount: 10, from: parts(of: Data(count: 11)))
        }
        #expect(throws: SwiftDataError.self) {
            try context.writeValue(of: film, at: \.poster, byteCount: 10, from: parts(of: Data(count: 10)))
        }
        #expect(throws: SwiftDataError.self) {
            try context.writeValue(of: Film("unsaved"), at: \.content, byteCount: 10, from: parts(of: Data(count: 10)))
        }
        #expect(try read() == Self.content)
        #expect(try context.storeProblems() == [])
    }

    @Test func `a value that is replaced or deleted while it is read or written is a conflict`() throws {
        try context.writeValue(of: film, at: \.content, byteCount: Self.content.count, from: parts(of: Self.content))
        let other = ModelContext(context.container)
        let theirs = try #require(try other.fetch(FetchDescriptor<Film>()).first)
        var count = 0
        #expect(throws: ObjectGraphError.self) {
            try context.readValue(of: film, at: \.content, partSize: 1_000_000) { _ in
                count += 1
                theirs.content = Data(count: 2_500_000)
                try other.save()
            }
        }
        #expect(count == 1)
        let source = parts(of: Self.content, size: 1_500_000)
        #expect(throws: ObjectGraphError.self) {
            try context.writeValue(of: film, at: \.content, byteCount: Self.content.count) {
                if !theirs.isDeleted {
                    other.delete(theirs)
                    try other.save()
                }
                return try source()
            }
        }
        #expect(try context.storeProblems() == [])
    }
}
