import CSQLCipher
import Foundation

/// Copies a file, except for the holes of a sparse file, to a file that only its owner can read.
struct FileCopy {
    private static let chunkByteCount = 1 << 20

    private enum Target {
        case path(String)
        case descriptor(Int32)
    }

    private let target: Target
    private let namedPath: String

    /// Creates a copy at `target`. Errors name `namedPath`.
    init(to target: String, namedPath: String) {
        self.target = .path(target)
        self.namedPath = namedPath
    }

    /// Copies to an empty file, which is open.
    init(to descriptor: Int32, namedPath: String) {
        target = .descriptor(descriptor)
        self.namedPath = namedPath
    }

    /// Copies the file of a connection through SQLite's descriptor: closing another descriptor would release the locks
    /// that this process holds on the file.
    func copy(_ file: UnsafeMutablePointer<sqlite3_file>) throws(DatabaseError) {
        var byteCount: Int64 = 0
        let code = csqlcipher_file_size(file, &byteCount)
        guard code == SQLITE_OK else { throw .inputOutput(extendedCode: code, isIndeterminate: false) }
        try write(byteCount) { (buffer, offset) throws(DatabaseError) in
            let count = Int(min(Int64(buffer.count), byteCount - offset))
            let code = csqlcipher_file_read(file, buffer.baseAddress, Int32(count), offset)
            guard code == SQLITE_OK else { throw .inputOutput(extendedCode: code, isIndeterminate: false) }
            return count
        }
    }

    /// Copies a file on which no process holds locks. Does nothing if the file does not exist.
    func copy(_ source: String) throws(DatabaseError) {
        let descriptor = open(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw DatabaseError(systemError: errno, path: source)
        }
        defer { close(descriptor) }
        try write(DatabaseFiles.byteCount(of: source)) { (buffer, offset) throws(DatabaseError) in
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            guard count >= 0 else { throw DatabaseError(systemError: errno, path: source) }
            return count
        }
    }

    private func write(
        _ byteCount: Int64,
        _ read: (UnsafeMutableRawBufferPointer, Int64) throws(DatabaseError) -> Int
    ) throws(DatabaseError) {
        let descriptor =
            switch target {
            case .descriptor(let descriptor): descriptor
            case .path(let path): OwnerOnly.createFile(path, O_WRONLY)
            }
        guard descriptor >= 0 else { throw DatabaseError(systemError: errno, path: namedPath) }
        defer { if case .path = target { close(descriptor) } }
        guard ftruncate(descriptor, off_t(byteCount)) == 0 else {
            throw DatabaseError(systemError: errno, path: namedPath)
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkByteCount, alignment: 8)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while offset < byteCount {
            let count = try read(buffer, offset)
            guard count > 0 else { return }
            let chunk = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            if chunk.contains(where: { $0 != 0 }) {
                try write(chunk, to: descriptor, at: offset)
            }
            offset += Int64(count)
        }
    }

    private func write(
        _ chunk: UnsafeRawBufferPointer,
        to descriptor: Int32,
        at offset: Int64
    ) throws(DatabaseError) {
        var written = 0
        while written < chunk.count {
            let rest = UnsafeRawBufferPointer(rebasing: chunk[written...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + Int64(written)))
            guard count >= 0 || errno == EINTR else { throw DatabaseError(systemError: errno, path: namedPath) }
            written += max(0, count)
        }
    }
}
