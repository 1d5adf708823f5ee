import CSQLCipher
public import Foundation

extension EncryptionKey {
    /// Whether this is the key of an encrypted file.
    ///
    /// The file is not opened as a database: no file is written or created, and other processes can use it during the
    /// call. The key is right if a page of the file, or of the log beside it, was written with it.
    ///
    /// - Throws: `DatabaseError.fileNotFound`, `emptyFile`, and `notADatabase` for a file that no key opens;
    ///   `invalidKey`; `cannotOpen` if the file, or the name of its log, belongs to anything but a regular file.
    /// - Complexity: O(1); a passphrase costs a key derivation, about 0.1 seconds.
    public func opens(_ url: URL) throws -> Bool {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        let files = try DatabaseFiles(at: url.path(percentEncoded: false))
        guard try files.exist() else { throw DatabaseError.fileNotFound(path: files.namedPath) }
        // Reading a log that is a pipe would not end.
        try files.checkCompanions()
        let counters = StatisticsCounters()
        let connection = try ConnectionOpener.connect(files, options: .init(readOnly: true), counters: counters)
        defer { connection.close() }
        let inspection = try FileInspection(files, of: connection, key: self)
        let key = try DerivedKey(self, fileSalt: inspection.salt, counters: counters)
        do {
            _ = try inspection.verify(key)
            return true
        } catch DatabaseError.wrongKey {
            return try inspection.hasHeaderLikeSalt(self, counters: counters)
        }
    }
}
