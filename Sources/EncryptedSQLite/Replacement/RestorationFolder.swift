import CSQLCipher
import Foundation

/// The folder of a restoration, see ``InterruptedRestoration``, open. Its files are moved and removed through the open
/// folder, so that a link or folder that is put under its name is never used.
final class RestorationFolder {
    let files: DatabaseFiles
    let path: String
    private let descriptor: Int32
    /// The time of the last change of the folder's list of names before it was opened.
    private let lastChange: Date?

    static func path(for files: DatabaseFiles) -> String {
        files.folder + "/" + TemporaryName(of: files).fixed("restoring")
    }

    /// Opens the folder; nil if nothing has its name.
    ///
    /// - Throws: `cannotOpen` for a link, for a file, and for a folder of another user; `permissionDenied`.
    init?(of files: DatabaseFiles) throws(DatabaseError) {
        let path = Self.path(for: files)
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ENOTDIR, ELOOP, EMLINK: throw Self.isForeign(path, files)
            case let code: throw DatabaseError(systemError: code, path: files.namedPath)
            }
        }
        (self.files, self.path, self.descriptor) = (files, path, descriptor)
        lastChange = (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        guard isOwn else { throw Self.isForeign(path, files) }
    }

    deinit { close(descriptor) }

    private static func isForeign(_ path: String, _ files: DatabaseFiles) -> DatabaseError {
        .cannotOpen(
            path: files.namedPath,
            reason: "\(path) is not the folder of a restoration by this user; move it away"
        )
    }

    /// Whether the user has made the folder. The superuser also uses the folders of the owner of the database's folder.
    private var isOwn: Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        if status.st_uid == geteuid() { return true }
        return geteuid() == 0 && DatabaseFiles.status(of: files.folder)?.st_uid == status.st_uid
    }

    /// The state of a file in the folder; nil if there is none.
    func status(of name: String) -> stat? {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Moves a file into the folder.
    func takeIn(_ path: String, as name: String) throws(DatabaseError) {
        guard renameat(AT_FDCWD, path, descriptor, name) == 0 else { throw error }
    }

    /// Moves a file out of the folder.
    func takeOut(_ name: String, to path: String) throws(DatabaseError) {
        guard renameat(descriptor, name, AT_FDCWD, path) == 0 else { throw error }
    }

    /// Removes a file of the folder, if it is there.
    func remove(_ name: String) throws(DatabaseError) {
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else { throw error }
    }

    private var error: DatabaseError { DatabaseError(systemError: errno, path: files.namedPath) }

    /// Throws if the folder has a log, and the database was changed after its log was moved into the folder: a program that
    /// does not look for the folder has saved without the log, which does not fit the file any more.
    func requireUnchangedFile() throws(DatabaseError) {
        guard status(of: "-wal") != nil || status(of: "-journal") != nil, let lastChange,
            let changed = (try? FileManager.default.attributesOfItem(atPath: files.path))?[.modificationDate] as? Date,
            changed > lastChange
        else { return }
        throw .cannotOpen(
            path: files.namedPath,
            reason: "it was changed after an interrupted restoration had moved its log to \(path); move that away"
        )
    }
}
