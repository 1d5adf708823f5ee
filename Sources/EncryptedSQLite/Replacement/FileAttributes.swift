import CSQLCipher
import Foundation

/// The attributes of a file that a new file in its place keeps.
enum FileAttributes {
    /// Gives a new file the owner, the permissions, the access control list and the extended attributes of an old one.
    /// With a list, the permissions of the group are the limit of its entries: so the list is written last.
    static func copy(of files: DatabaseFiles, _ old: stat, to new: DatabaseFiles) throws(DatabaseError) {
        guard let status = DatabaseFiles.status(of: new.path) else { throw .moved(path: new.namedPath) }
        if (status.st_uid, status.st_gid) != (old.st_uid, old.st_gid) {
            guard chown(new.path, old.st_uid, old.st_gid) == 0 else {
                throw DatabaseError(systemError: errno, path: new.namedPath)
            }
        }
        guard chmod(new.path, old.st_mode & 0o7777) == 0 else {
            throw DatabaseError(systemError: errno, path: new.namedPath)
        }
        let code = csqlcipher_copy_attributes(files.path, new.path)
        guard code == 0 else { throw DatabaseError(systemError: code, path: new.namedPath) }
    }
}
