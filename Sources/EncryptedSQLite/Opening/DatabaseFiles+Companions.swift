import CSQLCipher
import Foundation

extension DatabaseFiles {
    /// The files beside a database, as they were at one time.
    struct Companions {
        private let log: stat?
        private let sharedMemory: stat?
        private let journal: stat?

        /// Looks at the files.
        init(of files: DatabaseFiles) {
            let count = files.path.utf8.count
            (log, sharedMemory, journal) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: count + 16) { name in
                _ = name.initialize(from: files.path.utf8.lazy.map { CChar(bitPattern: $0) })
                func status(_ suffix: StaticString) -> stat? {
                    // Including the zero byte at the end.
                    memcpy(name.baseAddress! + count, suffix.utf8Start, suffix.utf8CodeUnitCount + 1)
                    var status = stat()
                    return lstat(name.baseAddress!, &status) == 0 ? status : nil
                }
                return (status("-wal"), status("-shm"), status("-journal"))
            }
        }

        /// Whether any of the files exists.
        var exist: Bool { log != nil || sharedMemory != nil || journal != nil }

        /// The length of the log; 0 if it does not exist.
        var logByteCount: Int64 { log.map { Int64($0.st_size) } ?? 0 }

        /// Throws if one of the files is not a regular file.
        func check(_ files: DatabaseFiles) throws(DatabaseError) {
            for (status, path) in [(log, files.log), (sharedMemory, files.sharedMemory), (journal, files.journal)] {
                if let status, status.st_mode & S_IFMT != S_IFREG {
                    throw .cannotOpen(path: path, reason: "it is not a regular file")
                }
            }
        }
    }
}
