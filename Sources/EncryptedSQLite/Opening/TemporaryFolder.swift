import CSQLCipher
import Foundation

/// A folder under a temporary name beside a file or folder that is written in it. Only its owner can read it.
///
/// The folder is removed with the object. While the object lives, it holds a lock on the folder (flock(2)), which the
/// system releases when the process ends. So the next object in the same place, and the next opening of a database there
/// for writing, removes the folders of ended processes at once, whatever they were for, and leaves the folders of running
/// processes:
///
///     process A                       process B                       in the folder
///     makes A's folder                                                A's folder
///                                     locks and removes A's folder    nothing
///     finds A's folder removed
///     makes a second folder, locks it                                 A's second folder
///                                     cannot lock A's folder          A's second folder
///     is killed                                                       A's second folder
///                                     the next time: removes it       nothing
///
/// On a file system without such locks, the process of a folder counts as ended one hour after the last change of the
/// folder's content.
final class TemporaryFolder {
    let path: String
    private let descriptor: Int32?

    private static let leftoverAge: TimeInterval = 3600

    /// Makes an empty folder, and removes the folders of ended processes.
    init(beside files: DatabaseFiles) throws(DatabaseError) {
        Self.removeLeftovers(beside: files)
        while true {
            let path = files.folder + "/" + TemporaryName(of: files).unused()
            guard OwnerOnly.createFolder(path) == 0 else {
                let code = errno
                // Another process has removed the new folder already.
                if code == ENOENT, DatabaseFiles.exists(files.folder) { continue }
                throw DatabaseError(systemError: code, path: files.namedPath)
            }
            switch Self.lock(path) {
            case .taken(let descriptor):
                (self.path, self.descriptor) = (path, descriptor)
                return
            case .unsupported:
                (self.path, self.descriptor) = (path, nil)
                return
            case .refused:
                // Another process takes the folder for the folder of an ended process, and removes it.
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
    ///
    /// Earlier versions wrote databases under such names without a folder. A file of this database with such a name is
    /// removed one hour after its last write.
    ///
    /// - Parameter limit: The number of names in the folder after which the search ends. A name costs half a microsecond.
    static func removeLeftovers(beside files: DatabaseFiles, limit: Int = .max) {
        for name in TemporaryName.names(in: files.folder, limit: limit) {
            let path = files.folder + "/" + name
            switch lock(path) {
            case .taken(let descriptor):
                try? FileManager.default.removeItem(atPath: path)
                close(descriptor)
            case .unsupported:
                // The date of a folder does not change while a file in it grows.
                let content = FileManager.default.subpaths(atPath: path) ?? []
                if isOld([path] + content.map { path + "/" + $0 }) { try? FileManager.default.removeItem(atPath: path) }
            case .failed(ENOTDIR) where TemporaryName(of: files).matches(name):
                let file = DatabaseFiles(path: path, namedPath: path)
                // A long transaction writes only the log.
                if isOld([path] + file.companions) { TemporaryDatabaseFile.remove(file) }
            case .refused, .failed: continue
            }
        }
    }

    /// Whether the last change of all of the files was an hour ago.
    private static func isOld(_ paths: [String]) -> Bool {
        let dates = paths.compactMap { path in
            (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        }
        return dates.max().map { -$0.timeIntervalSinceNow > leftoverAge } ?? false
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
