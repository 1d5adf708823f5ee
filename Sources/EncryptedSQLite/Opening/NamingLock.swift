import CSQLCipher
import Foundation

/// An exclusive lock on the name of a database, which processes and threads hold while they give a file this name.
///
/// The lock is on a file beside the database (flock(2)), which only its owner can open: any user who can read the folder
/// could lock the folder itself. The system releases the lock when the process ends; the holder removes the file, which
/// a killed process leaves. So a lock counts only while its file has the name:
///
///     process A                      process B                         the file
///     makes and locks the file                                         A's
///                                    opens the file, waits             A's
///     removes the file, unlocks                                        none
///                                    gets the lock, finds no file      none
///                                    makes another file, locks it      B's
///                                    is killed                         B's, without a lock
///     locks the file                                                   B's
///
/// Anything else with this name, for example a link or a file of another user, is removed. If it cannot be removed, the
/// name cannot be locked, as on a file system without locks. The processes of two users therefore do not exclude each
/// other, except that the processes of the superuser use the files of the folder's owner.
struct NamingLock: ~Copyable {
    private let path: String
    private let descriptor: Int32

    private static let pauseMicroseconds: UInt32 = 1000
    /// The least number of attempts before a name that other processes change all the time counts as one that cannot be
    /// locked.
    private static let minimumAttempts = 100

    /// Takes the lock. Returns nil if the name cannot be locked.
    ///
    /// - Throws: `busy` if another holder keeps the lock for longer than the timeout; the error of the system if the
    ///   file cannot be made although the folder can be written.
    static func take(_ files: DatabaseFiles, timeoutMilliseconds: Int) throws(DatabaseError) -> NamingLock? {
        let path = path(of: files)
        let deadline = ContinuousClock.now + .milliseconds(timeoutMilliseconds)
        var attempts = 0
        while true {
            attempts += 1
            switch try attempt(path, files) {
            case .taken(let descriptor): return NamingLock(path: path, descriptor: descriptor)
            case .unavailable: return nil
            case .changed:
                guard ContinuousClock.now < deadline || attempts < minimumAttempts else { return nil }
                ExitGate.waiting { _ = usleep(pauseMicroseconds) }
            case .held:
                guard ContinuousClock.now < deadline else { throw .busy }
                ExitGate.waiting { _ = usleep(pauseMicroseconds) }
            }
        }
    }

    /// Removes the file of a process that was killed.
    static func removeLeftover(of files: DatabaseFiles) {
        guard DatabaseFiles.exists(path(of: files)) else { return }
        // A lock that is taken removes its file when it is released.
        _ = try? take(files, timeoutMilliseconds: 0)
    }

    private static func path(of files: DatabaseFiles) -> String {
        files.folder + "/" + TemporaryName(of: files).fixed("naming")
    }

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        if Self.isNamed(descriptor, path) { unlink(path) }
        close(descriptor)
    }

    // MARK: Taking

    private enum Attempt {
        case taken(Int32)
        case held
        /// The file has lost its name, or the name belonged to no lock file and was removed.
        case changed
        case unavailable
    }

    private static func attempt(_ path: String, _ files: DatabaseFiles) throws(DatabaseError) -> Attempt {
        let created = OwnerOnly.createFile(path, O_RDWR | O_NONBLOCK | O_EXCL)
        let isNew = created >= 0
        let descriptor =
            isNew || errno != EEXIST ? created : open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT where DatabaseFiles.exists(files.folder): return .changed
            // A file that a process of this user holds can be opened.
            case EACCES, EPERM, ELOOP, EMLINK, EISDIR, ENXIO: return remove(path)
            case EROFS: return .unavailable
            case let code: throw DatabaseError(systemError: code, path: files.namedPath)
            }
        }
        guard isOwn(descriptor, files) else {
            close(descriptor)
            // The file system gives each file permissions or an owner of its own.
            guard !isNew else {
                unlink(path)
                return .unavailable
            }
            return remove(path)
        }
        var code: Int32
        repeat { code = flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno } while code == EINTR
        if code == 0, isNamed(descriptor, path) { return .taken(descriptor) }
        close(descriptor)
        switch code {
        case 0: return .changed
        case EWOULDBLOCK: return .held
        default:
            unlink(path)
            return .unavailable
        }
    }

    /// Whether an open file can be one that was made as a lock file, so that no other user can open and lock it.
    private static func isOwn(_ descriptor: Int32, _ files: DatabaseFiles) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o7077 == 0,
            status.st_size == 0
        else { return false }
        guard geteuid() == 0, let folder = DatabaseFiles.status(of: files.folder) else {
            return status.st_uid == geteuid()
        }
        // The owner of the folder must be able to open what the superuser makes.
        if status.st_uid == 0, folder.st_uid != 0 { return fchown(descriptor, folder.st_uid, folder.st_gid) == 0 }
        return status.st_uid == folder.st_uid
    }

    /// Removes the name of anything that is no lock file.
    private static func remove(_ path: String) -> Attempt {
        unlink(path) == 0 || errno == ENOENT ? .changed : .unavailable
    }

    /// Whether the path leads to an open file.
    private static func isNamed(_ descriptor: Int32, _ path: String) -> Bool {
        var opened = stat()
        guard fstat(descriptor, &opened) == 0, let named = DatabaseFiles.status(of: path) else { return false }
        return (opened.st_dev, opened.st_ino) == (named.st_dev, named.st_ino)
    }
}
