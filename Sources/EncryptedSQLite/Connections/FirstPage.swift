import CSQLCipher

/// What the first page of an open file shows of its origin: another program can overwrite a file in place, so that its
/// name still leads to the file that is open (`cp` does).
///
/// The page begins with the salt of the file, which never changes; with a plaintext header, the same bytes are constant.
/// Behind its content is the initialization vector, random bytes that change whenever the page is written. In a database
/// with a log, only checkpoints write to the file. A checkpoint notes in the index of the log how far it will write
/// before it writes. So a vector that changed while the index did not belongs to another file:
///
///     this process            other process               index: attempted, written     vector
///     records the page                                     0, 0                          a
///                             begins a checkpoint          8, 0                          a
///     cannot conclude         writes the first page        8, 0                          b
///     records the page                                     8, 8                          b
///                             overwrites the file          8, 8                          c
///     would commit: throws
///
/// The vector also distinguishes a plain copy of an earlier state of the file, with two exceptions: no checkpoint has
/// written the first page since the copy was made, or another process has begun a new log since this process last read
/// the page. In the second case nothing shows whether that process had written back the rest of the old log before.
struct FirstPage: Sendable {
    /// 16 bytes of the page.
    private struct Bytes: Equatable {
        let first: UInt64
        let second: UInt64

        init(_ page: UnsafeRawBufferPointer, at offset: Int) {
            first = page.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            second = page.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
        }
    }

    /// The number of frames of a log that were written back into the file.
    struct Checkpoint: Equatable {
        let salts: UInt64
        let frames: UInt32
    }

    private let beginning: Bytes
    private let vector: Bytes
    /// The last checkpoint, if it was complete while the page was read; nil otherwise, and if the database has no log.
    let checkpoint: Checkpoint?

    /// Reads the page through SQLite's own descriptor: closing a second descriptor would release the locks of this process.
    /// Costs one system call. Nil if the page cannot be read.
    init?(of connection: Connection) {
        guard let file = csqlcipher_main_file(connection.handle) else { return nil }
        let before = Self.checkpoint(of: connection, file)
        let page = withUnsafeTemporaryAllocation(byteCount: PageCipher.pageByteCount, alignment: 16) { page in
            let code = csqlcipher_file_read(file, page.baseAddress, Int32(page.count), 0)
            // Behind the end of a file that is just being overwritten are zeros.
            let isRead = code == SQLITE_OK || code == SQLITE_IOERR | 2 << 8
            let bytes = UnsafeRawBufferPointer(page)
            return isRead
                ? (Bytes(bytes, at: 0), Bytes(bytes, at: PageCipher.pageByteCount - PageCipher.reservedByteCount)) : nil
        }
        guard let page else { return nil }
        (beginning, vector) = page
        checkpoint = before == Self.checkpoint(of: connection, file) ? before : nil
    }

    /// The last checkpoint; nil if a checkpoint is running or was interrupted, or the database has no log.
    static func checkpoint(of connection: Connection, _ file: UnsafeMutablePointer<sqlite3_file>) -> Checkpoint? {
        var state = csqlcipher_log_state()
        guard connection.hasLog, csqlcipher_read_log_state(file, &state) != 0,
            state.frames_attempted == state.frames_written_back
        else { return nil }
        return Checkpoint(salts: csqlcipher_log_salts(&state), frames: state.frames_written_back)
    }

    /// Whether the page cannot be a later state of the page `earlier`.
    func contradicts(_ earlier: FirstPage) -> Bool {
        if beginning != earlier.beginning { return true }
        guard let checkpoint, checkpoint == earlier.checkpoint else { return false }
        return vector != earlier.vector
    }

    /// Whether a page that is read later can contradict this page.
    var isSettled: Bool { checkpoint != nil }
}

extension Connection {
    /// Whether another program has overwritten the file in place since the first connection of this process read it.
    var isOverwritten: Bool {
        guard let sharedFile, let page = FirstPage(of: self) else { return false }
        // Only a connection that has joined records the page: a connection that fails to open must not leave a page
        // behind.
        return sharedFile.isOverwritten(accordingTo: page, records: hasJoined)
    }

    /// Records the first page again after a commit that has begun a new log.
    func noteNewLog() {
        guard hasJoined, let sharedFile, let file = csqlcipher_main_file(handle),
            let checkpoint = FirstPage.checkpoint(of: self, file), !sharedFile.knowsLog(of: checkpoint),
            let page = FirstPage(of: self)
        else { return }
        sharedFile.record(page)
    }
}
