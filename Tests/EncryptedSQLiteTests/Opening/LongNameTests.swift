@testable import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Files whose names are as long as a file system allows, with the suffixes of SQLite.
@Suite struct LongNameTests {
    private let folder = TemporaryFolder()

    /// A name of 247 bytes.
    private static let name = String(repeating: "n", count: 247)
    /// The same with characters of several bytes, at the end of which no name can be cut.
    private static let composedName = String(repeating: "e\u{301}\u{65E5}", count: 41) + "x"

    /// The last two are the longest one that temporary names contain unchanged, and the next one.
    private static let names: [String] = [
        name, composedName, String(repeating: "n", count: 193), String(repeating: "n", count: 194),
    ]

    @Test(arguments: names) func `a database is created, compacted, copied, and gets another key`(name: String) throws {
        #expect(name.utf8.count <= 247)
        let path = folder.filePath(name)
        let database = try openSample(path)
        try database.write { try insert(1...100, into: $0) }
        try database.compact()
        try database.changeKey(to: rawKey(2))
        #expect(try database.read { try $0.itemCount() } == 100)
        for form in [Database.CopyForm.pages, .compact] {
            let path = folder.filePath("b\(name.dropFirst())")
            try database.copy(to: path, key: rawKey(3), form: form)
            let copy = try openSample(path, key: rawKey(3))
            #expect(try copy.read { try $0.itemCount() } == 100)
            try copy.close()
            try FileManager.default.removeItem(atPath: path)
        }
        try database.close()
        #expect(try folder.names() == [name])
    }

    @Test func `a database is created under a temporary name, which is given to it`() throws {
        do {
            let new = try NewFile(at: folder.file(Self.name))
            try makeSample(new.temporaryPath)
            try new.complete()
        }
        #expect(try folder.names() == [Self.name])
        let plain = folder.file("p\(Self.name.dropFirst())")
        try PlaintextFile(at: plain).complete()
        #expect(FileManager.default.fileExists(atPath: plain.path))
        let made = try NewFolder(at: folder.file(String(repeating: "f", count: 255)))
        _ = try made.addFile("content")
        try made.complete()
        #expect(try folder.names().contains(String(repeating: "f", count: 255)))
    }

    // Earlier versions left files under temporary names, without a lock.
    @Test func `the leftovers of a file are removed, and never those of another one`() throws {
        let names: [String] = [Self.name, "\(Self.name.dropLast())m", "store", "store.a"]
        var leftovers: [String] = []
        for name in names {
            let files = try DatabaseFiles(at: folder.filePath(name))
            let leftover = folder.filePath(TemporaryName(of: files).unused())
            try Data([1]).write(to: URL(filePath: leftover))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -86_400)],
                ofItemAtPath: leftover
            )
            leftovers.append((leftover as NSString).lastPathComponent)
        }
        #expect(Set(leftovers).count == 4)
        for name in names {
            #expect(try Set(folder.names()).isSuperset(of: leftovers), "before \(name.count)")
            _ = try NewFile(at: folder.file(name))
            leftovers.removeFirst()
            #expect(try folder.names() == leftovers.sorted(), "after \(name.count)")
        }
    }

    @Test func `a name that looks like a shortened one has temporary names of its own`() {
        let files = { (name: String) in DatabaseFiles(path: "/folder/" + name, namedPath: "/folder/" + name) }
        let shortened = TemporaryName(of: files(Self.name)).fixed("replacing")
        let other = String(shortened.dropFirst().dropLast(".replacing".count))
        #expect(other.utf8.count < Self.name.utf8.count)
        #expect(TemporaryName(of: files(other)).fixed("replacing") != shortened)
        #expect(!TemporaryName(of: files(other)).matches(TemporaryName(of: files(Self.name)).unused()))
    }
}
