import Foundation
import ObjectGraph
import TestSupport
import Testing

/// `sealed inspect` and `sealed query`.
@Suite struct ReadingCommandTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private func write() throws {
        try StoreFixture.create(
            url,
            [
                EntityDescription(
                    "Book",
                    attributes: [.init("title", .string), .init("pages", .int64, isOptional: true)]
                )
            ],
            [
                ("Book", ["title": .text("Kokoro"), "pages": .integer(248)]),
                ("Book", ["title": .text("line\u{1B}[2J")]),
            ]
        )
    }

    @Test func `inspect shows the entities with their properties and numbers of objects`() throws {
        try write()
        let result = try Tool.run("inspect", url.path)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("Book, 2 stored"))
        #expect(result.output.contains("title") && result.output.contains("int64"))
    }

    @Test func `query prints JSON without control characters`() throws {
        try write()
        let result = try Tool.run("query", url.path, "Book", "--format", "json")
        #expect(
            result.output == """
                {"_id":1,"title":"Kokoro","pages":248}
                {"_id":2,"title":"line\\u001b[2J","pages":null}

                """
        )
        let some = try Tool.run("query", url.path, "Book", "--where", "pages > 100", "--format", "json")
        #expect(some.output.split(separator: "\n").count == 1)
    }

    @Test func `errors are one line on standard error, and the status is not zero`() throws {
        try write()
        let entity = try Tool.run("query", url.path, "Books")
        #expect(entity.status == 64 && entity.errors.contains("no entity 'Books'"))
        #expect(entity.output.isEmpty)
        let key = try Tool.run("inspect", url.path, environment: ["SEALED_PASSPHRASE": "wrong"])
        #expect(key.status == 77 && !key.errors.isEmpty && !key.errors.contains("wrong"))
    }
}
