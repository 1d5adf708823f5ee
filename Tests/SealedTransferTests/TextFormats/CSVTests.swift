import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import SealedTransfer

struct CSVTests {
    private let folder = TemporaryFolder()

    private func importing(_ text: String, _ options: ImportOptions = ImportOptions()) throws -> TestStore {
        try Data(text.utf8).write(to: folder.file("Vessel.csv"))
        let model = try Harbour.model()
        let target = StoreImport(into: folder.file("store"), key: Harbour.key, model: model, options: options)
        try target.importCSV(from: ["Vessel": folder.file("Vessel.csv")])
        return try TestStore(folder.file("store"))
    }

    @Test func `quotes, line breaks, a byte order mark and empty fields follow RFC 4180`() throws {
        let store = try importing("\u{FEFF}name,text,int64\r\n\"a \"\"b\"\",\r\nc\",,1\n d ,\"\",\n\r\ne,x,-2")
        let vessels = try store.objects("Vessel")
        #expect(vessels.map { $0["name"] } == [.text("a \"b\",\r\nc"), .text(" d "), .text("e")])
        #expect(vessels.map { $0["text"] } == [.null, .text(""), .text("x")])
        #expect(vessels.map { $0["int64"] } == [.integer(1), .null, .integer(-2)])
    }

    @Test(arguments: [
        ("", 1, 1), ("\u{FEFF}", 1, 1), ("name,name\n", 1, 6), ("name,other\n", 1, 6), ("name\na,b\n", 2, 3),
        ("name\n\"a\"b\n", 2, 4), ("name\na\"\n", 2, 2), ("name\n\n\n\"a\n", 4, 1),
        ("name,int8\na,1\nb,300\n", 3, 3), ("name,flags\na,x\n", 2, 3),
    ])
    func `errors name line and column`(text: String, line: Int, column: Int) throws {
        let error = #expect(throws: TransferError.self) { _ = try importing(text) }
        guard case .malformed("Vessel.csv", line, column, _)? = error else {
            Issue.record("\(error.map { "\($0)" } ?? "no error")")
            return
        }
    }

    @Test func `other columns and files are named in the report`() throws {
        try FileManager.default.createDirectory(at: folder.file("in"), withIntermediateDirectories: true)
        try Data("name,other\nx,1\n".utf8).write(to: folder.file("in/Vessel.csv"))
        try Data().write(to: folder.file("in/notes.txt"))
        var options = ImportOptions()
        options.unfitContent = .omit
        let target = StoreImport(
            into: folder.file("store"),
            key: Harbour.key,
            model: try Harbour.model(),
            options: options
        )
        let report = try target.importCSV(from: folder.file("in"))
        #expect(
            report.notImported == [
                "Vessel.other: the entity has no such property", "notes.txt: no entity has this name",
            ]
        )
        #expect(report.missing.contains("Vessel.int8"))
    }

    @Test(arguments: [("name,text\n", 1_000_000), ("", 1_000_000)])
    func `a record with more fields than the header ends the import at once`(header: String, commas: Int) throws {
        let text = header + String(repeating: ",", count: commas) + "\n"
        let error = #expect(throws: TransferError.self) { _ = try importing(text) }
        guard case .malformed("Vessel.csv", let line, let column, _)? = error else {
            Issue.record("\(error.map { "\($0)" } ?? "no error")")
            return
        }
        // Before the end of the record.
        #expect(line == (header.isEmpty ? 1 : 2) && column < 10_000)
    }

    @Test func `separators count to the length of a record`() throws {
        var options = ImportOptions()
        options.limits.lineByteCount = 30
        options.limits.propertyCount = 1_000
        #expect(throws: TransferError.lineTooLong(file: "Vessel.csv", line: 1)) {
            _ = try importing("name" + String(repeating: ",", count: 100) + "\n", options)
        }
    }
}
