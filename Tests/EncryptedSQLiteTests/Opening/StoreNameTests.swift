@testable import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// The names of files that belong to a database, and databases with several names.
@Suite struct StoreNameTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.filePath("store") }

    private func expectRefused(_ target: String, _ body: () throws -> Void, location: SourceLocation = #_sourceLocation)
    {
        guard case .cannotOpen(target, let reason) = databaseError(body, sourceLocation: location) else {
            Issue.record("another error", sourceLocation: location)
            return
        }
        #expect(reason.contains("take it for the log of a database"), sourceLocation: location)
    }

    // The saves in the log are acknowledged.
    @Test(arguments: ["-wal", "-shm", "-journal", "-wal2", "-WAL"], [false, true])
    func `nothing is written to the name of a log, an index or a journal`(suffix: String, isLinked: Bool) throws {
        let database = try openSample(path)
        try database.write { try insert(1...30, into: $0) }
        var target = path + suffix
        if isLinked {
            if !FileManager.default.fileExists(atPath: target) { try Data([1]).write(to: URL(filePath: target)) }
            let link = folder.filePath("link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            target = link
        }
        let url = URL(filePath: target)
        let before = try folder.names()
        for form in [Database.CopyForm.pages, .compact] {
            for replaces in [false, true] {
                expectRefused(target) { try database.copy(to: target, form: form, replacesExisting: replaces) }
            }
        }
        let other = folder.filePath("other")
        try makeSample(other)
        expectRefused(target) { try Database.restore(other, key: rawKey(), to: target, options: sampleOptions()) }
        expectRefused(target) { _ = try NewFile(at: url) }
        expectRefused(target) { _ = try PlaintextFile(at: url) }
        expectRefused(target) { _ = try NewFolder(at: url) }
        if !FileManager.default.fileExists(atPath: target) { expectRefused(target) { _ = try openSample(target) } }
        try FileManager.default.removeItem(atPath: other)
        #expect(try folder.names() == before)
        try database.close()
        if suffix != "-wal", suffix != "-shm" { try? FileManager.default.removeItem(atPath: path + suffix) }
        #expect(try openSample(path).read { try $0.itemCount() } == 30)
    }

    @Test func `a database without such a name beside another file is created`() throws {
        try makeSample(folder.filePath("a-wal"))
        #expect(try openSample(folder.filePath("a-wal")).read { try $0.itemCount() } == 3)
    }

    // SQLite would take the existing database for its log, and a creation would remove it.
    @Test(arguments: [false, true])
    func `no database is created where another one has the name of its log`(isOpen: Bool) throws {
        let other = try openSample(path + "-wal")
        try other.write { try insert(1...30, into: $0) }
        if !isOpen { try other.close() }
        guard case .cannotOpen(path, _) = databaseError({ try openSample(path) }) else {
            Issue.record("the database was created")
            return
        }
        try? other.close()
        #expect(try folder.names() == ["store-wal"])
        #expect(try openSample(path + "-wal").read { try $0.itemCount() } == 30)
    }

    // MARK: Hard links

    @Test func `a database with two names is opened under neither`() throws {
        try makeSample(path, rows: 30)
        let link = folder.filePath("link")
        try FileManager.default.linkItem(atPath: path, toPath: link)
        for name in [path, link] {
            for isReadOnly in [false, true] {
                let error = databaseError {
                    try openSample(name, options: sampleOptions { $0.readOnly = isReadOnly })
                }
                #expect(error == .hardLinked(path: name))
                #expect(error?.recoverySuggestion != nil)
            }
            #expect(databaseError { try DamagedFile(path: name, key: rawKey()) } == .hardLinked(path: name))
        }
        #expect(try folder.names() == ["link", "store"])
        try FileManager.default.removeItem(atPath: link)
        #expect(try openSample(path).read { try $0.itemCount() } == 30)
    }

    // one process        | another process
    // opens a, saves     |
    //                    | links a to b
    //                    | opens b: throws `hardLinked`
    // saves              |
    @Test func `a second name of an open database does not open`() throws {
        let database = try openSample(path)
        try database.write { try insert(1...3, into: $0) }
        let link = folder.filePath("link")
        try FileManager.default.linkItem(atPath: path, toPath: link)
        #expect(databaseError { try openSample(link) } == .hardLinked(path: link))
        try database.write { try insert(4...4, into: $0) }
        #expect(databaseError { try database.copy(to: link, replacesExisting: true) } == .hardLinked(path: link))
        #expect(try database.read { try $0.itemCount() } == 4)
    }

    // On a file system that cannot rename a file without replacing another one.
    @Test func `the second name that a killed creation has left is removed`() throws {
        try makeSample(path, rows: 30)
        let left = folder.filePath(".store.1f.creating")
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        try FileManager.default.linkItem(atPath: path, toPath: left + "/store")
        #expect(try openSample(path).read { try $0.itemCount() } == 30)
        #expect(try folder.names() == ["store"])
    }

    // MARK: Leftovers

    @Test func `what a killed process has left is removed by the next operation or opening`() async throws {
        for operation in ["opening", "copy", "new file"] {
            let used = try NewFile(beside: folder.file("used"))
            let usedName = used.temporaryPath.split(separator: "/").dropLast(2).last.map(String.init)
            let path = path
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                do {
                    let files = try [path, path + ".backup"].map { try NewFile(beside: URL(filePath: $0)) }
                    for file in files { try makeSample(file.temporaryPath) }
                    withExtendedLifetime(files) { _ = kill(getpid(), SIGKILL) }
                } catch {
                    Issue.record(error)
                }
            }
            #expect(try folder.names().count { $0.hasSuffix(".creating") } == 3)
            switch operation {
            case "opening": try openSample(path).close()
            case "copy": try Database(.memory, key: nil).copy(to: folder.filePath("copy"), key: rawKey())
            default: _ = try NewFile(at: folder.file("new"))
            }
            let names = try folder.names().filter { $0.hasPrefix(".") }
            #expect(names == [usedName], "\(operation)")
            withExtendedLifetime(used) {}
        }
    }
}
