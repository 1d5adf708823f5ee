package import Foundation
import Guarded

extension Database {
    /// Replaces the file by a verified new one with the same content, and continues with it.
    ///
    /// Reads of this database continue until the files are exchanged. Writes wait, here and in other processes. Other
    /// databases with the same file, in this and other processes, throw `moved` at their next use.
    ///
    /// - Parameters:
    ///   - key: The key of the new file; nil for the key of the old one, with a fresh salt unless the key names the salt.
    ///   - progress: Receives the finished part, and can be cancelled.
    ///   - copy: Copies the content of the first connection, which is in a read transaction, to the empty database of
    ///     the second one, on which no other connection works. It may leave out the numbers in the header.
    /// - Throws: `busy` if another connection, or a snapshot, writes or reads for longer than the busy timeout;
    ///   `nestedWrite`; `moved`; `readOnly`; `locked`, `suspended` and `closed`, also if the database enters that state
    ///   during the call; `diskFull`; `CancellationError`; errors of `copy`. After an error, the old file is in use
    ///   with the old key; only after `unconfirmedReplacement`, the new file is in use.
    /// - Complexity: O(*n*) in the size of the file. Must not be called inside `read` or `write`.
    package func replaceFile(
        key: EncryptionKey? = nil,
        progress: Progress = Progress(totalUnitCount: 100),
        copy: (_ source: Connection, _ target: Connection, _ progress: Progress) throws -> Void
    ) throws {
        try requireNoOuterWrite()
        try work.run(progress) { try replace(key, progress, copy) }
    }

    private func replace(
        _ key: EncryptionKey?,
        _ progress: Progress,
        _ copy: (_ source: Connection, _ target: Connection, _ progress: Progress) throws -> Void
    ) throws {
        try phase.withLock { phase in
            if let error = phase.error { throw error }
            guard let old = session.withLock({ $0 }), let readers else { throw DatabaseError.noFile }
            guard let checkpointer else { throw DatabaseError.readOnly }
            if progress.totalUnitCount < 100 { progress.totalUnitCount = 100 }
            let timeout = options.busyTimeoutMilliseconds
            try writers.pause(timeoutMilliseconds: timeout)
            defer { writers.resume() }
            let replacement = FileReplacement(session: old, options: options, counters: counters)
            let built = try replacement.build(key, progress: progress, copy: copy)
            try checkpointer.connections.pause(timeoutMilliseconds: timeout)
            defer { checkpointer.connections.resume() }
            try readers.connections.pause(timeoutMilliseconds: timeout)
            defer { readers.connections.resume() }
            if progress.isCancelled { throw CancellationError() }
            let outcome = try FileSwap(session: old, options: options).run(built)
            old.file.remove(readers)
            start(outcome.session)
            guard outcome.isConfirmed else {
                throw DatabaseError.unconfirmedReplacement(path: outcome.session.opener.files.namedPath)
            }
        }
    }

    /// Whether an error means that another file took the place of the file, or of its log, so that the program can open
    /// the database again.
    package func isReplaced(accordingTo error: any Error) -> Bool {
        guard case DatabaseError.moved(let path) = error, let files else { return false }
        return (path == files.namedPath || files.companions.contains(path)) && DatabaseFiles.exists(files.path)
    }

    /// Encrypts the file with another key.
    ///
    /// The new file has the content of the old one, page by page. See ``replaceFile(key:progress:copy:)``.
    package func changeKey(to key: EncryptionKey, progress: Progress = Progress(totalUnitCount: 100)) throws {
        try replaceFile(key: key, progress: progress) { source, target, progress in
            try PageCopy.run(from: source, to: target, progress: progress)
        }
    }
}
