import CSQLCipher
import Foundation

/// A folder under a temporary name beside a file or folder that is written in it, for content without encryption. Only
/// its owner can read it.
///
/// The folder is removed with the object. While the object lives, it holds a lock on the folder (flock(2)), which the
/// system releases when the process ends. So the next object beside the same file removes the folders of ended
/// processes at once, and leaves those of others:
///
///     process A                       process B                       in the folder
///     makes A's folder                                                A's folder
///                                     locks and removes A's folder    nothing
///     finds A's folder removed
///     makes another one, locks it                                     A's second folder
///                                     cannot lock A's folder          A's second folder
///     is killed                                                       A's second folder
///                                     the next time: removes it       nothing
///
/// On a file system without such locks, a folder counts as that of an ended process when it is one hour old.
final class TemporaryFolder {
    let path: String
    private let descriptor: Int32?

    private static let leftoverAge: TimeInterval = 3600

    /// Makes an empty folder, and removes those of ended processes.
    init(beside files: DatabaseFiles) throws(DatabaseError) {
        Self.removeLeftovers(beside: files)
        while true {
            let path = files.folder + "/" + TemporaryName(of: files).unused()
            guard OwnerOnly.createFolder(path) == 0 else {
                throw DatabaseError(systemError: errno, path: files.namedPath)
            }
            switch Self.lock(path) {
            case .taken(let descriptor):
                (self.path, self.descriptor) = (path, descriptor)
                return
            case .unsupported:
                (self.path, self.descriptor) = (path, nil)
                return
            case .refused:
                // Another process takes the folder for that of an ended process, and removes it.
                continue
            case .failed(let code):
                rmdir(path)
                throw DatabaseError(systemError: code, path: files.namedPath)
            }
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        if let descriptor { close(descriptor) }
    }

    /// Removes the folders of processes that ended before they could remove them.
    static func removeLeftovers(beside files: DatabaseFiles) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: files.folder)) ?? []
        let temporary = TemporaryName(of: files)
        for name in names where temporary.matches(name) {
            let path = files.folder + "/" + name
            switch lock(path) {
            case .taken(let descriptor):
                try? FileManager.default.removeItem(atPath: path)
                close(descriptor)
            case .unsupported:
                let date = (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
                guard let date, -date.timeIntervalSinceNow > leftoverAge else { continue }
                try? FileManager.default.removeItem(atPath: path)
            case .refused, .failed: continue
            }
        }
    }

    // MARK: The lock

    private enum Locking {
        case taken(Int32)
        /// Another object has the lock, the folder does not exist any more, or it belongs to another user.
        case refused
        /// The file system has no such locks.
        case unsupported
        /// The folder cannot be opened. The value is the system's error.
        case failed(Int32)
    }

    private static func lock(_ path: String) -> Locking {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT ? .refused : .failed(errno) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            let isHeld = errno == EWOULDBLOCK
            close(descriptor)
            return isHeld ? .refused : .unsupported
        }
        var opened = stat()
        guard fstat(descriptor, &opened) == 0, opened.st_uid == geteuid(), let named = DatabaseFiles.status(of: path),
            (opened.st_dev, opened.st_ino) == (named.st_dev, named.st_ino)
        else {
            close(descriptor)
            return .refused
        }
        return .taken(descriptor)
    }
}
