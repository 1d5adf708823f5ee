package import EncryptedSQLite

extension EncryptionKey {
    private static let testBytes = (1...32).map { UInt8($0 * 7) }

    /// A key for the files of tests that do not concern passphrases: opening a file with it takes no derivation.
    package static let ofTests: EncryptionKey = {
        do {
            return try .raw(testBytes)
        } catch {
            preconditionFailure("A key of 32 bytes was refused: \(error)")
        }
    }()

    /// The statement with which SQLCipher's own tool opens such a file.
    package static let statementOfTests = "PRAGMA key = \"x'" + testBytes.map { String(hex: $0) }.joined() + "'\";"
}

extension String {
    fileprivate init(hex byte: UInt8) {
        let digits = String(byte, radix: 16)
        self = digits.count == 1 ? "0" + digits : digits
    }
}
