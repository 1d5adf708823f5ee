import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import SealedTransfer

/// Binary property lists in composite attributes of Core Data.
struct PropertyListTests {
    private let folder = TemporaryFolder()

    /// A binary property list with offsets and references of two bytes.
    ///
    /// - Parameter objects: The objects, of which the first one contains the others.
    private static func list(_ objects: [[UInt8]]) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += number(bytes.count)
            bytes += object
        }
        let table = bytes.count
        bytes += offsets
        bytes += [0, 0, 0, 0, 0, 0, 2, 2]
        for count in [objects.count, 0, table] { bytes += [0, 0, 0, 0, 0, 0] + number(count) }
        return bytes
    }

    private static func number(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }

    private static func array(_ references: [Int]) -> [UInt8] {
        [0xA0 | UInt8(references.count)] + references.flatMap(number)
    }

    /// A text of one character.
    private static func text(_ character: Unicode.Scalar) -> [UInt8] { [0x51, UInt8(ascii: character)] }

    private func target() throws -> StoreImport {
        StoreImport(into: folder.file("store"), key: Harbour.key, model: try CoreDataFile.model())
    }

    /// Writes a store with a book that has a list as its notes.
    private func write(_ bytes: [UInt8]) throws -> CoreDataFile {
        let hex = bytes.map { String(format: "%02x", $0) }.joined()
        return try CoreDataFile(folder, extra: "UPDATE ZBOOK SET ZNOTES = x'\(hex)' WHERE Z_PK = 4;")
    }

    private func expectRefusal(of bytes: [UInt8], _ reason: String) throws {
        let file = try write(bytes)
        let unfit = UnfitValues(entity: "Novel", property: "notes", reason: reason, count: 1)
        #expect(throws: TransferError.unfitValues([unfit])) { try target().importCoreData(from: file.url) }
    }

    @Test func `a shared part is written in each place`() throws {
        let dictionary: [UInt8] = [0xD2] + [1, 2, 3, 3].flatMap(Self.number)
        let bytes = Self.list([dictionary, Self.text("a"), Self.text("b"), Self.array([4]), Self.text("t")])
        try target().importCoreData(from: write(bytes).url)
        let books = try TestStore(folder.file("store")).objects("Book")
        #expect(books.last?["notes"] == .text(#"{"a":["t"],"b":["t"]}"#))
    }

    @Test func `a list that expands to 2 to the power of 40 values is refused`() throws {
        let arrays = (0..<40).map { Self.array([$0 + 1, $0 + 1]) }
        try expectRefusal(of: Self.list(arrays + [Self.text("t")]), "the property list is too large")
    }

    @Test func `a list that contains itself is refused`() throws {
        try expectRefusal(of: Self.list([Self.array([1]), Self.array([0])]), "the property list is damaged")
    }

    @Test func `a list with too many levels is refused`() throws {
        let arrays = (0..<600).map { Self.array([$0 + 1]) }
        try expectRefusal(of: Self.list(arrays + [Self.text("t")]), "the property list is nested too deeply")
    }
}
