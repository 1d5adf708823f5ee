import CSQLCipher
import Foundation

/// An exclusive lock on a folder, which processes and threads hold while they name new files.
///
/// The lock is on the folder itself (flock(2)), so that it leaves no file behind. The system releases it when the
/// process ends.
struct FolderLock: ~Copyable {
    private let descriptor: Int32

    private static let pauseMicroseconds: UInt32 = 1000

    /// Takes the lock. Returns nil if the file system does not support such locks.
    ///
    /// - Throws: `busy` if another holder keeps the lock for longer than the timeout.
    static func take(_ folder: String, timeoutMilliseconds: Int) throws(DatabaseError) -> FolderLock? {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DatabaseError(systemError: errno, path: folder) }
        let deadline = ContinuousClock.now + .milliseconds(timeoutMilliseconds)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK where ContinuousClock.now < deadline: usleep(pauseMicroseconds)
            case EWOULDBLOCK:
                close(descriptor)
                throw .busy
            default:
                close(descriptor)
                return nil
            }
        }
        return FolderLock(descriptor: descriptor)
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        close(descriptor)
    }
}
