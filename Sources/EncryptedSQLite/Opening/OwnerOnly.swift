import CSQLCipher
package import Foundation

/// New files and folders to which only their owner has access, whatever the process's mask of permissions (umask(2)).
///
/// The mask removes permissions from the permissions that open(2) and mkdir(2) are given, also permissions of the
/// owner: then the owner could not open the store. SQLite gives the log, the journal and the shared memory the
/// permissions of the database.
package enum OwnerOnly {
    /// Opens a file, which is created if it does not exist. A link is not followed.
    ///
    /// - Returns: The descriptor, or -1 with `errno`.
    static func createFile(_ path: String, _ flags: Int32) -> Int32 {
        let descriptor = open(path, flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return -1 }
        var status = stat()
        // Not the permissions of a file that existed: only its owner may change them.
        guard fstat(descriptor, &status) == 0, status.st_mode & 0o600 != 0o600 else { return descriptor }
        guard fchmod(descriptor, status.st_mode & 0o7777 | 0o600) == 0 else {
            let code = errno
            close(descriptor)
            errno = code
            return -1
        }
        return descriptor
    }

    /// Makes a folder. Returns 0, or -1 with `errno`.
    static func createFolder(_ path: String) -> Int32 {
        guard mkdir(path, 0o700) == 0 else { return -1 }
        var status = stat()
        // Some file systems refuse to change permissions. No link has the name of the new folder.
        if lstat(path, &status) == 0, status.st_mode & 0o700 == 0o700 || chmod(path, 0o700) == 0 { return 0 }
        let code = errno
        rmdir(path)
        errno = code
        return -1
    }

    /// Makes a folder and the missing folders that contain it. They have the usual permissions of new folders, and the
    /// owner can use them whatever the mask is.
    package static func createFolders(at url: URL) throws {
        let path = url.path(percentEncoded: false)
        guard !isFolder(path) else { return }
        let parent = url.deletingLastPathComponent()
        if parent.path(percentEncoded: false) != path { try createFolders(at: parent) }
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        } catch CocoaError.fileWriteFileExists where isFolder(path) {
            // Another process has made the folder since the first look.
            return
        }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & 0o700 != 0o700 else { return }
        try FileManager.default.setAttributes(
            [.posixPermissions: Int(status.st_mode & 0o7777 | 0o700)],
            ofItemAtPath: path
        )
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
