import CSQLCipher

extension EncryptionKey {
    /// Makes the system write no core dump of the process, which would contain the keys that the encryption library
    /// keeps while a file is open, and values of models.
    ///
    /// It sets the limit of the size of core dumps (RLIMIT_CORE) to zero and, on Linux, makes the process undumpable
    /// (`PR_SET_DUMPABLE`): other processes of the user, debuggers among them, can then not read its memory either.
    /// Child processes inherit the limit. Call it at the beginning of `main`.
    ///
    /// The keys themselves lie in memory that the system omits from core dumps on Linux, also without this call.
    ///
    /// - Returns: Whether the system has accepted both settings.
    @discardableResult
    public static func preventCoreDumps() -> Bool { csqlcipher_prevent_core_dumps() == 0 }
}
