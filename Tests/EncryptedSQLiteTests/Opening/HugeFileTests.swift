import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Sparse files of any length, which occupy no disk space.
@Suite struct HugeFileTests {
    /// A folder on a file system that supports long files; in memory if the disk does not.
    private static let largeFileFolder: String? = ["/dev/shm", NSTemporaryDirectory()].first { folder in
        let path = folder + "/" + UUID().uuidString
        defer { unlink(path) }
        return FileManager.default.createFile(atPath: path, contents: nil) && truncate(path, 1 << 60) == 0
    }

    private static let byteCounts: [Int] = [
        20 << 40, 1 << 60, (1 << 60) + 1, 0xffff_fffe * 4096, 0xffff_fffe * 4096 + 1, 0xffff_ffff * 4096, 17 << 40,
        4097,
    ]

    private let path = (largeFileFolder ?? NSTemporaryDirectory()) + "/EncryptedSQLiteTests-" + UUID().uuidString

    private func removeAll() { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) } }

    @Test(.enabled(if: largeFileFolder != nil), arguments: byteCounts, [false, true])
    func `random bytes and then a hole`(_ byteCount: Int, _ readOnly: Bool) throws {
        defer { removeAll() }
        try Data((0..<8192).map { _ in UInt8.random(in: 0...255) }).write(to: URL(fileURLWithPath: path))
        try #require(truncate(path, byteCount) == 0)
        let error = databaseError { try openSample(path, options: sampleOptions { $0.readOnly = readOnly }) }
        let isPossible = byteCount % 4096 == 0 && byteCount <= 0xffff_fffe * 4096
        #expect(error == (isPossible ? .wrongKey(path: path) : .notADatabase(path: path, .unrecognised)))
    }

    @Test(.enabled(if: largeFileFolder != nil), arguments: [20 << 40, 1 << 60, (1 << 60) + 7, 40 << 30])
    func `a log that continues as a hole`(_ byteCount: Int) throws {
        defer { removeAll() }
        let other = TemporaryFolder()
        let writer = try openSample(other.filePath("store"))
        try writer.write { try insert(1...300, into: $0) }
        try Leftover.log.copy(other.filePath("store"), to: path)
        try #require(truncate(path + "-wal", byteCount) == 0)
        #expect(databaseError { try openSample(path) } == .damaged(path: path))
        #expect(databaseError { try openSample(path, key: rawKey(2)) } == .wrongKey(path: path))
    }

    @Test(.enabled(if: largeFileFolder != nil))
    func `a log whose end was not written because of a power failure`() throws {
        defer { removeAll() }
        let other = TemporaryFolder()
        let writer = try openSample(other.filePath("store"))
        try writer.write { try insert(1...300, into: $0) }
        try Leftover.log.copy(other.filePath("store"), to: path)
        try #require(truncate(path + "-wal", 64 << 20) == 0)
        #expect(try openSample(path).read { try $0.itemCount() } == 300)
    }
}
