import Foundation

/// A rollback journal beside a database, which SQLite writes back into the file at the next read (SQLite, "Atomic
/// commit", section 4).
struct RollbackJournal {
    let path: String

    /// The bytes with which each header of a journal begins, and with which the name of a super-journal ends.
    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    /// The name's length, its checksum, and the magic number.
    private static let tailByteCount: UInt64 = 16

    /// Whether the first byte is not zero. SQLite overwrites the beginning of an invalid journal with zeros.
    ///
    /// A journal that cannot be read counts as hot.
    var isHot: Bool {
        guard DatabaseFiles.byteCount(of: path) > 0 else { return false }
        return read(at: 0, count: 1)?.first != 0
    }

    /// Whether the journal is hot and ends with the name of a super-journal: the file with which SQLite commits a
    /// transaction in several databases at once, and which it deletes after the rollback. No journal of this package has
    /// one, so that such a journal would have SQLite delete a file of its writer's choice.
    var namesSuperJournal: Bool {
        let byteCount = UInt64(max(0, DatabaseFiles.byteCount(of: path)))
        guard byteCount >= Self.tailByteCount, isHot else { return false }
        let start = byteCount - Self.tailByteCount
        guard let tail = read(at: start, count: Int(Self.tailByteCount)), tail.suffix(8) == Self.magic[...] else {
            return false
        }
        let length = tail.prefix(4).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        return length > 0 && length <= start
    }

    /// SQLite takes no locks on a journal, so that opening and closing it releases no lock.
    private func read(at offset: UInt64, count: Int) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard (try? file.seek(toOffset: offset)) != nil else { return nil }
        return (try? file.read(upToCount: count)).map { Array($0) }
    }
}
