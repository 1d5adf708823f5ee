package import Foundation

/// A rollback journal of no page, which SQLite rolls back, with the name of a super-journal at its end.
package enum HotJournal {
    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    private static let sectorByteCount = 512

    /// - Parameters:
    ///   - path: The path of the super-journal.
    ///   - pageCount: The number of pages of the database.
    ///   - pageByteCount: The size of its pages.
    package static func naming(_ path: String, pageCount: Int, pageByteCount: Int = 4096) -> Data {
        var journal = Data(magic)
        for word in [0, 1, pageCount, sectorByteCount, pageByteCount] { append(word, to: &journal) }
        journal.append(Data(count: sectorByteCount - journal.count))
        // The name stands behind the number of a page that never has content.
        append(0x4000_0000 / pageByteCount + 1, to: &journal)
        journal.append(contentsOf: path.utf8)
        append(path.utf8.count, to: &journal)
        append(path.utf8.reduce(0) { $0 + Int($1) }, to: &journal)
        return journal + magic
    }

    private static func append(_ word: Int, to data: inout Data) {
        withUnsafeBytes(of: UInt32(word).bigEndian) { data.append(contentsOf: $0) }
    }
}
