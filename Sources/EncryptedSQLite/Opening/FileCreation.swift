import CSQLCipher
import Foundation

/// Makes a new database file, in one step for everybody who looks at its path.
///
/// The file is built under a temporary name in the same folder and renamed when it is complete and on the disk. So there
/// is never a half-made file at the path: what a crash leaves behind is an encrypted file under the temporary name, which
/// the next creation removes.
struct FileCreation {
    let path: String
    let options: Database.Options
    let counters: StatisticsCounters

    /// How old a file with a temporary name is before it counts as left behind.
    private static let leftoverAge: TimeInterval = 3600
    private static let temporarySuffix = ".creating"

    /// Makes the file. Returns false, with nothing changed, where somebody else made it meanwhile.
    func create(with key: DerivedKey, schema: (Connection) throws -> Void) throws -> Bool {
        removeLeftovers()
        let temporaryPath =
            folder + "/." + name + "." + String(UInt64.random(in: .min ... .max), radix: 16)
            + Self.temporarySuffix
        try reserve(temporaryPath)
        defer { Self.remove(temporaryPath) }
        do {
            let opener = ConnectionOpener(path: temporaryPath, key: key, options: options, counters: counters)
            let connection = try opener.open(.creator)
            try Self.buildSchema(on: connection, options: options, create: schema)
            connection.close()
        }
        try verify(temporaryPath, with: key)
        guard csqlcipher_rename_exclusively(temporaryPath, path) == 0 else {
            let code = errno
            if code == EEXIST { return false }
            throw DatabaseError(systemError: code, path: path)
        }
        try Self.synchronize(folder)
        return true
    }

    /// Runs the first transaction of a database: the program's tables and the numbers that identify its files.
    static func buildSchema(
        on connection: Connection,
        options: Database.Options,
        create: (Connection) throws -> Void
    ) throws {
        try connection.transaction { connection in
            try create(connection)
            try connection.setting("PRAGMA application_id = \(options.applicationID)")
            if try connection.setting("PRAGMA user_version") == "0" {
                try connection.setting("PRAGMA user_version = \(options.newestUserVersion)")
            }
        }
    }

    // MARK: The temporary file

    private var folder: String {
        let folder = (path as NSString).deletingLastPathComponent
        return folder.isEmpty ? "/" : folder
    }

    private var name: String { (path as NSString).lastPathComponent }

    /// Makes an empty file that only its owner can read, before SQLite opens it. The log and its shared memory inherit
    /// the permissions.
    private func reserve(_ temporaryPath: String) throws(DatabaseError) {
        let descriptor = open(temporaryPath, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DatabaseError(systemError: errno, path: path) }
        close(descriptor)
    }

    /// Makes sure that the file is complete, encrypted with the key, and on the disk.
    private func verify(_ temporaryPath: String, with key: DerivedKey) throws(DatabaseError) {
        let isComplete = !FileManager.default.fileExists(atPath: temporaryPath + "-wal")
        let firstPage = FileHandle(forReadingAtPath: temporaryPath).flatMap { file in
            defer { try? file.close() }
            return try? file.read(upToCount: PageCipher.pageByteCount)
        }
        guard isComplete, let firstPage, firstPage.count == PageCipher.pageByteCount else {
            throw .cannotOpen(path: path, reason: "the new file could not be completed")
        }
        let cipher = try PageCipher(key)
        guard !firstPage.starts(with: "SQLite format 3\0".utf8),
            firstPage.withUnsafeBytes({ cipher.verifies($0, number: 1) })
        else { throw .cipherUnavailable(reason: "a new file was not encrypted with its key") }
        try Self.synchronize(temporaryPath)
    }

    /// Waits until a file or the entries of a folder are on the disk.
    private static func synchronize(_ path: String) throws(DatabaseError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DatabaseError(systemError: errno, path: path) }
        defer { close(descriptor) }
        // Some file systems cannot do it for folders, and say so with EINVAL.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw DatabaseError(systemError: errno, path: path) }
    }

    private static func remove(_ temporaryPath: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(temporaryPath + suffix) }
    }

    private func removeLeftovers() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.hasPrefix(".\(self.name).") && name.hasSuffix(Self.temporarySuffix) {
            let path = folder + "/" + name
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard let date = attributes?[.modificationDate] as? Date, -date.timeIntervalSinceNow > Self.leftoverAge
            else { continue }
            Self.remove(path)
        }
    }
}

extension DatabaseError {
    /// The error for an `errno` of a call on a file or its folder.
    init(systemError code: Int32, path: String) {
        self =
            switch code {
            case EACCES, EPERM, EROFS: .permissionDenied(path: path)
            case ENOSPC, EDQUOT: .diskFull
            case ENOENT, ENOTDIR: .cannotOpen(path: path, reason: "its folder does not exist")
            default: .cannotOpen(path: path, reason: String(cString: strerror(code)))
            }
    }
}
