import Foundation

/// A text file that is read in pieces.
final class InputFile {
    /// The name in errors.
    let name: String
    /// The length in bytes, as far as the system knows it.
    let byteCount: Int64
    /// The number of bytes that were read.
    private(set) var bytesRead: Int64 = 0
    private let handle: FileHandle

    private static let chunkByteCount = 1 << 18
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// - Throws: ``TransferError/unreadable(file:reason:)``.
    init(_ url: URL) throws {
        name = url.lastPathComponent
        let path = url.path(percentEncoded: false)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw TransferError.unreadable(file: name, reason: "it does not exist")
        }
        guard !isFolder.boolValue, let handle = FileHandle(forReadingAtPath: path) else {
            throw TransferError.unreadable(file: name, reason: "it is not a readable file")
        }
        self.handle = handle
        byteCount = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.int64Value ?? 0
    }

    deinit { try? handle.close() }

    /// The next bytes; nil at the end. A byte order mark at the beginning is left out.
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
        return isFirst && bytes.starts(with: Self.byteOrderMark) ? Array(bytes.dropFirst(3)) : bytes
    }
}
