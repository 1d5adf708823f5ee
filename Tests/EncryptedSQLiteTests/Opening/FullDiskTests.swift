import Foundation
import TestSupport
import Testing

@testable import EncryptedSQLite

/// The failure model: the file system of a database has any amount of room, from none on. A file system is mounted by
/// one thread, so that each test runs in a separate process.
@Suite(.enabled(if: Mounts.areAllowed)) struct FullDiskTests {
    private let folder = TemporaryFolder()

    @Test func `an opening that finds no room for the index of the log is a full disk`() async {
        await #expect(processExitsWith: .success) { [folder = folder.path as String] in
            try Mounts.mountMemory(on: folder, byteCount: 1 << 20)
            try makeSample(folder + "/store")
            let outcomes = try Room.outcomes(in: folder, kilobytes: 0...64) {
                let database = try openSample(folder + "/store")
                defer { try? database.close() }
                #expect(try database.read { try $0.itemCount() } == 3)
            }
            // A failed opening can leave a part of the index, which the next one does not need room for.
            try #require(outcomes.contains(.diskFull) && outcomes.allSatisfy { [.diskFull, nil].contains($0) })
            try #require(outcomes.last == .some(nil))
        }
    }

    @Test func `a new file that finds no room is a full disk, and leaves nothing`() async {
        await #expect(processExitsWith: .success) { [folder = folder.path as String] in
            try Mounts.mountMemory(on: folder, byteCount: 1 << 20)
            let outcomes = try Room.outcomes(in: folder, kilobytes: 0...400) {
                let database = try Database(
                    .file(folder + "/store"),
                    key: rawKey(),
                    options: sampleOptions()
                ) { connection in
                    try connection.execute("CREATE TABLE item (_id INTEGER PRIMARY KEY, name TEXT) STRICT")
                    try insert(1...1000, into: connection)
                }
                try database.close()
            } after: { error in
                let names = try FileManager.default.contentsOfDirectory(atPath: folder)
                // A file that has taken its name is complete, although it cannot be opened.
                #expect(names == [] || names == ["store"], "\(String(describing: error))")
                try? FileManager.default.removeItem(atPath: folder + "/store")
            }
            try #require(outcomes == [.diskFull, nil])
        }
    }

    @Test(arguments: [true, false]) func `a replacement that finds no room is a full disk, and changes nothing`(
        isCompaction: Bool
    ) async {
        await #expect(processExitsWith: .success) {
            [folder = folder.path as String, isCompaction = isCompaction as Bool] in
            try Mounts.mountMemory(on: folder, byteCount: 2 << 20)
            try makeSample(folder + "/store", rows: 1000)
            let database = try openSample(folder + "/store")
            _ = try database.read { try $0.itemCount() }
            let outcomes = try Room.outcomes(in: folder, kilobytes: 0...800) {
                if isCompaction { try database.compact() } else { try database.changeKey(to: rawKey()) }
            } after: { _ in
                let count = try database.read { try $0.itemCount() }
                #expect(count == 1000)
            }
            try #require(outcomes == [.diskFull, nil])
        }
    }

    @Test func `a copy that finds no room is a full disk, and leaves nothing`() async {
        await #expect(processExitsWith: .success) { [folder = folder.path as String] in
            let source = TemporaryFolder()
            try makeSample(source.filePath("store"), rows: 1000)
            let database = try openSample(source.filePath("store"))
            try Mounts.mountMemory(on: folder, byteCount: 1 << 20)
            let outcomes = try Room.outcomes(in: folder, kilobytes: 0...400) {
                try database.copy(to: folder + "/copy")
            } after: { error in
                let names = try FileManager.default.contentsOfDirectory(atPath: folder)
                #expect(names == (error == nil ? ["copy"] : []), "\(String(describing: error))")
                try? FileManager.default.removeItem(atPath: folder + "/copy")
            }
            try #require(outcomes == [.diskFull, nil])
        }
    }
}

/// The room on a file system. Code in a separate process has no `Self`.
private enum Room {
    /// The outcomes of an operation with each amount of room, by pages of 4,096 bytes; of successive equal outcomes only
    /// the first. Nil is a success.
    ///
    /// - Parameter after: Called after each operation, with its error, when there is room again.
    static func outcomes(
        in folder: String,
        kilobytes: ClosedRange<Int>,
        _ operation: () throws -> Void,
        after: (DatabaseError?) throws -> Void = { _ in }
    ) throws -> [DatabaseError?] {
        var outcomes: [DatabaseError?] = []
        let filling = folder + "/filling"
        for room in stride(from: kilobytes.lowerBound, through: kilobytes.upperBound, by: 4) {
            try fill(filling, leaving: room * 1024)
            var outcome: DatabaseError?
            do {
                try operation()
            } catch let error as DatabaseError {
                outcome = error
            }
            try FileManager.default.removeItem(atPath: filling)
            try after(outcome)
            if outcomes.last != outcome { outcomes.append(outcome) }
        }
        return outcomes
    }

    private static func fill(_ path: String, leaving room: Int) throws {
        var status = statvfs()
        try Data().write(to: URL(filePath: path))
        guard statvfs(path, &status) == 0 else { throw Mounts.Failure(code: errno) }
        let free = Int(status.f_bfree) * Int(status.f_bsize)
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        try file.write(contentsOf: Data(count: max(0, free - room)))
    }
}
