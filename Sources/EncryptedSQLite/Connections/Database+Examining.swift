import CSQLCipher
import Foundation

extension Database {
    /// Calls `body` in a read transaction of an existing file, and leaves the file and its companions as they were.
    ///
    /// SQLite creates an empty log for a reader, which a connection that may only read cannot remove. Therefore a file
    /// without a log is opened for writing if its permissions allow that, and nothing is written.
    ///
    /// `body` can run twice: see ``init(_:key:options:create:verify:)``.
    package static func examine(
        _ location: Location,
        key: EncryptionKey?,
        options: Options,
        _ body: (Connection) throws -> Void
    ) throws {
        var options = options
        switch location {
        case .memory: options.createsIfMissing = false
        case .file(let path): options = try options.ofExamination(of: DatabaseFiles(at: path))
        }
        try Database(location, key: key, options: options, create: { _ in }, verify: body).close()
    }
}

extension Database.Options {
    /// The options for reading an existing file without changing it or the files beside it.
    func ofExamination(of files: DatabaseFiles) -> Database.Options {
        var options = self
        options.createsIfMissing = false
        options.readOnly = true
        let isWritable = csqlcipher_access(files.path, W_OK) == 0 && csqlcipher_access(files.folder, W_OK) == 0
        if isWritable, !files.haveCompanions {
            options.readOnly = false
            options.examinesOnly = true
        }
        return options
    }
}
