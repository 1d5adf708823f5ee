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

    @Test func `each line of JSON is valid, whatever the dates and composite values are`() throws {
        let values: [(at: Value, place: Value)] = [
            (.real(.infinity), .text("\"not JSON\"")), (.real(-.infinity), .text("[1,\n2]")),
            (.real(1e300), .text(#"{"a": [1, null]}"#)), (.real(0.25), .null), (.null, .text("\"x\u{7F}\"")),
        ]
        try StoreFixture.create(
            url,
            [
                EntityDescription(
                    "Event",
                    attributes: [
                        .init("at", .date, isOptional: true), .init("place", .composite, isOptional: true),
                    ]
                )
            ],
            values.map { (entity: "Event", values: ["at": $0.at, "place": $0.place]) }
        )
        let result = try Tool.run("query", url.path, "Event", "--format", "json")
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            result.output == #"""
                {"_id":1,"at":"inf","place":"not JSON"}
                {"_id":2,"at":"-inf","place":"[1,\n2]"}
                {"_id":3,"at":1e+300,"place":{"a": [1, null]}}
                {"_id":4,"at":"2001-01-01T00:00:00.25Z","place":null}
                {"_id":5,"at":null,"place":"x\u007f"}

                """#
        )
        for line in result.output.split(separator: "\n") {
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
        }
        let table = try Tool.run("query", url.path, "Event")
        #expect(table.status == 0 && table.output.contains("-inf"), "\(table.errors)")
    }

    @Test func `keys and numbers are complete in each page of a table`() throws {
        let entity = EntityDescription("Book", attributes: [.init("title", .string), .init("pages", .int64)])
        var objects: [(entity: String, values: [String: Value])] = (0..<1_000).map { _ in
            (entity: "Book", values: ["title": .text("a"), "pages": .integer(1)])
        }
        objects.append((entity: "Book", values: ["title": .text("a longer title"), "pages": .integer(.max)]))
        try StoreFixture.create(url, [entity], objects)
        let result = try Tool.run("query", url.path, "Book")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.split(separator: "\n").last == "1001  a longer title  9223372036854775807")
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")), arguments: ["json", "table"])
    func `an output that cannot be written is an error`(format: String) throws {
        try write()
        let tool = try Tool.start(["query", url.path, "Book", "--format", format], shell: "exec >/dev/full")
        let result = try tool.wait()
        #expect(result.status == 74 && result.errors.hasPrefix("Error: standard output"), "\(result)")
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
