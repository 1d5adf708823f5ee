import CSQLCipher
import Foundation

/// Verifies a new database file before it replaces an old file: each page was written with its key and is undamaged,
/// and SQLite opens the file.
struct FileVerification {
    private let files: DatabaseFiles
    private let opener: ConnectionOpener
    private static let chunkPageCount = 256

    init(_ files: DatabaseFiles, _ opener: ConnectionOpener) {
        self.files = files
        self.opener = opener
    }

    /// Reads the whole file. No connection to it may be open: closing a second descriptor releases its locks.
    ///
    /// - Throws: `damaged` if a page does not verify or the file is not complete; `CancellationError`.
    func run(expecting header: DatabaseHeader, progress: Progress) throws {
        guard !DatabaseFiles.exists(files.log), !DatabaseFiles.exists(files.journal) else {
            throw DatabaseError.cannotOpen(path: files.namedPath, reason: "the new file could not be completed")
        }
        let pageCount = try verifyPages(expecting: header, progress: progress)
        let connection = try opener.open(.reader)
        defer { connection.close() }
        guard try connection.value(of: .pageCount) == pageCount else {
            throw DatabaseError.damaged(path: files.namedPath)
        }
    }

    private func verifyPages(expecting header: DatabaseHeader, progress: Progress) throws -> Int64 {
        let cipher = try PageCipher(opener.key)
        let descriptor = open(files.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw DatabaseError(systemError: errno, path: files.namedPath) }
        defer { close(descriptor) }
        let pageByteCount = PageCipher.pageByteCount
        let pageCount = DatabaseFiles.byteCount(of: files.path) / Int64(pageByteCount)
        progress.totalUnitCount = max(pageCount, 1)
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.chunkPageCount * pageByteCount,
            alignment: 16
        )
        defer { buffer.deallocate() }
        var number: Int64 = 0
        while true {
            let count = try fill(buffer, from: descriptor, at: number * Int64(pageByteCount))
            guard count > 0 else { break }
            guard count % pageByteCount == 0 else { throw DatabaseError.damaged(path: files.namedPath) }
            for start in stride(from: 0, to: count, by: pageByteCount) {
                let page = UnsafeRawBufferPointer(rebasing: buffer[start..<start + pageByteCount])
                number += 1
                guard number != PageCipher.lockPage else { continue }
                guard cipher.verifies(page, number: UInt32(truncatingIfNeeded: number)),
                    number > 1 || PageCipher.header(ofFirstPage: page, opener.key) == header
                else { throw DatabaseError.damaged(path: files.namedPath) }
            }
            progress.completedUnitCount = number
            if progress.isCancelled { throw CancellationError() }
        }
        guard number == pageCount, number > 0 else { throw DatabaseError.damaged(path: files.namedPath) }
        return number
    }

    /// Reads a chunk, which is shorter at the end of the file only.
    private func fill(
        _ buffer: UnsafeMutableRawBufferPointer,
        from descriptor: Int32,
        at offset: Int64
    ) throws(DatabaseError) -> Int {
        var count = 0
        while count < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let read = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + Int64(count)))
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw DatabaseError(systemError: errno, path: files.namedPath) }
            guard read > 0 else { break }
            count += read
        }
        return count
    }
}
