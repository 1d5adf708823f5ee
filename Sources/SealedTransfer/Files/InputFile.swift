import Foundation

/// A text file that is read in pieces.
///
/// An import reads its files several times, so that a pipe cannot be imported.
final class InputFile {
    /// The name in errors.
    let name: String
    /// The length in bytes.
    let byteCount: Int64
    /// The number of bytes that were read.
    private(set) var bytesRead: Int64 = 0
    private let handle: FileHandle

    private static let chunkByteCount = 1 << 18
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// - Throws: ``TransferError/unreadable(file:reason:)``.
    init(_ url: URL) throws {
        name = url.lastPathComponent
        // Without O_NONBLOCK, opening a pipe waits for its writer.
        let descriptor = open(url.path(percentEncoded: false), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let reason = errno == ENOENT ? "it does not exist" : "it is not a readable file"
            throw TransferError.unreadable(file: name, reason: reason)
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw TransferError.unreadable(
                file: name,
                reason: "it is not a regular file; an import reads its source several times"
            )
        }
        byteCount = Int64(status.st_size)
    }

    deinit { try? handle.close() }

    /// The next bytes, at least one; nil at the end. A byte order mark at the beginning is left out.
    func nextChunk() throws -> [UInt8]? {
        let data: Data?
        do {
            data = try handle.read(upToCount: Self.chunkByteCount)
        } catch {
            throw TransferError.unreadable(file: name, reason: "reading failed")
        }
        guard let data, !data.isEmpty else { return nil }
        let isFirst = bytesRead == 0
        bytesRead += Int64(data.count)
        let bytes = [UInt8](data)
        guard isFirst, bytes.starts(with: Self.byteOrderMark) else { return bytes }
        let rest = Array(bytes.dropFirst(Self.byteOrderMark.count))
        return try rest.isEmpty ? nextChunk() : rest
    }
}
