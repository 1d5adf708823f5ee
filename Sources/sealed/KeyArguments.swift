import ArgumentParser
import Foundation
import SealedData
import Terminal

/// The options that name the source of a key. A key itself is never an argument.
struct KeyArguments: ParsableArguments {
    @Option(help: "The file that contains the passphrase, in one line.")
    var keyFile: String?

    @Option(help: "The number of an open file descriptor from which the passphrase is read, up to the end of the line.")
    var keyFd: Int32?

    @Option(help: "The environment variable that contains the passphrase.")
    var keyEnv: String?

    @Flag(help: "The key is not a passphrase, but 64 hexadecimal digits (a raw key), or 96 (with the salt).")
    var rawKey = false

    @Option(help: "The salt of a file with a plaintext header: 32 hexadecimal digits, which are not secret.")
    var salt: String?

    func validate() throws {
        guard [keyFile != nil, keyFd != nil, keyEnv != nil].count(where: \.self) <= 1 else {
            throw ValidationError("Name one source of the key.")
        }
    }

    /// Reads the key, or asks for it.
    func key(of file: String) throws -> EncryptionKey {
        let source = KeySource(file: keyFile, descriptor: keyFd, variable: keyEnv)
        let bytes = try source.bytes ?? Passphrase.fromEnvironment ?? Passphrase.ask("Passphrase of \(file): ")
        return try KeySource.key(bytes, isRaw: rawKey, headerSalt: salt)
    }
}

/// The options that name the source of the key of a new file.
struct NewKeyArguments: ParsableArguments {
    @Option(help: "The file that contains the new passphrase, in one line.")
    var newKeyFile: String?

    @Option(
        help: "The number of an open file descriptor from which the new passphrase is read, up to the end of the line."
    )
    var newKeyFd: Int32?

    @Option(help: "The environment variable that contains the new passphrase.")
    var newKeyEnv: String?

    @Flag(help: "Ask for the new passphrase on the terminal, twice.")
    var newKeyPrompt = false

    @Flag(help: "The new key is not a passphrase, but 64 or 96 hexadecimal digits.")
    var newRawKey = false

    @Option(help: "Give the new file a plaintext header; the salt, 32 hexadecimal digits, is not stored in it.")
    var newSalt: String?

    func validate() throws {
        guard [newKeyFile != nil, newKeyFd != nil, newKeyEnv != nil, newKeyPrompt].count(where: \.self) <= 1 else {
            throw ValidationError("Name one source of the new key.")
        }
    }

    /// The new key; nil without options for one.
    func key() throws -> EncryptionKey? {
        if newKeyPrompt { return try ask() }
        guard let bytes = try KeySource(file: newKeyFile, descriptor: newKeyFd, variable: newKeyEnv).bytes else {
            return nil
        }
        return try KeySource.key(bytes, isRaw: newRawKey, headerSalt: newSalt)
    }

    /// The new key, which is asked for without options for one.
    func requiredKey() throws -> EncryptionKey { try key() ?? ask() }

    private func ask() throws -> EncryptionKey {
        let first = try Passphrase.ask("New passphrase: ")
        guard try Passphrase.ask("New passphrase again: ") == first else { throw KeySourceError.different }
        return try KeySource.key(first, isRaw: newRawKey, headerSalt: newSalt)
    }
}

/// The options that name the source of the key of an encrypted database that is imported.
struct SourceKeyArguments: ParsableArguments {
    @Option(help: "The file that contains the passphrase of the imported database, in its first line.")
    var sourceKeyFile: String?

    @Option(help: "The number of an open file descriptor from which the passphrase of the imported database is read.")
    var sourceKeyFd: Int32?

    @Option(help: "The environment variable that contains the passphrase of the imported database.")
    var sourceKeyEnv: String?

    @Flag(help: "The key of the imported database is not a passphrase, but 64 or 96 hexadecimal digits.")
    var sourceRawKey = false

    @Option(help: "The salt of an imported database with a plaintext header: 32 hexadecimal digits.")
    var sourceSalt: String?

    /// The variable with the passphrase if no option names a source.
    private static let variable = "SEALED_SOURCE_PASSPHRASE"

    /// Whether an option is given.
    var isAny: Bool {
        sourceKeyFile != nil || sourceKeyFd != nil || sourceKeyEnv != nil || sourceRawKey || sourceSalt != nil
    }

    func validate() throws {
        guard [sourceKeyFile != nil, sourceKeyFd != nil, sourceKeyEnv != nil].count(where: \.self) <= 1 else {
            throw ValidationError("Name one source of the key of the imported database.")
        }
    }

    /// Reads the key, or asks for it.
    func key(of file: String) throws -> EncryptionKey {
        let isSet = getenv(Self.variable) != nil && sourceKeyFile == nil && sourceKeyFd == nil
        let variable = sourceKeyEnv ?? (isSet ? Self.variable : nil)
        let source = KeySource(file: sourceKeyFile, descriptor: sourceKeyFd, variable: variable)
        let bytes = try source.bytes ?? Passphrase.ask("Passphrase of \(file): ")
        return try KeySource.key(bytes, isRaw: sourceRawKey, headerSalt: sourceSalt)
    }
}

/// The source of a key.
private struct KeySource {
    let file: String?
    let descriptor: Int32?
    let variable: String?

    /// The largest number of bytes of a key.
    private static let maximumByteCount = 4096

    /// The bytes of the key; nil without a source.
    var bytes: [UInt8]? {
        get throws {
            if let variable {
                guard let value = getenv(variable) else { throw KeySourceError.noVariable(variable) }
                return Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
            }
            if let descriptor { return try Self.line(of: descriptor) }
            guard let file else { return nil }
            let descriptor = open(file, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw KeySourceError.noFile(file) }
            defer { close(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & 0o077 == 0 || status.st_mode & S_IFMT != S_IFREG
            else {
                throw KeySourceError.readableByOthers(file)
            }
            let line = try Self.line(of: descriptor)
            // `KeyProvider` takes the whole file as a passphrase.
            guard try Self.nextByte(of: descriptor) == nil else { throw KeySourceError.severalLines(file) }
            return line
        }
    }

    /// Reads a line, without its end: `KeyProvider` takes the same passphrase from the same file.
    ///
    /// It reads byte by byte, so that the bytes behind the line stay in a pipe.
    private static func line(of descriptor: Int32) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let byte = try nextByte(of: descriptor) {
            if byte == UInt8(ascii: "\n") {
                if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
                break
            }
            guard bytes.count < maximumByteCount else { throw KeySourceError.tooLong }
            bytes.append(byte)
        }
        return bytes
    }

    private static func nextByte(of descriptor: Int32) throws -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw KeySourceError.noDescriptor(descriptor) }
            return count == 0 ? nil : byte
        }
    }

    static func key(_ bytes: [UInt8], isRaw: Bool, headerSalt: String?) throws -> EncryptionKey {
        let key = try key(bytes, isRaw: isRaw)
        guard let headerSalt else { return key }
        guard let salt = self.bytes(ofDigits: headerSalt.utf8), salt.count == 16 else { throw KeySourceError.noSalt }
        return try key.withPlaintextHeader(salt: salt)
    }

    private static func key(_ bytes: [UInt8], isRaw: Bool) throws -> EncryptionKey {
        guard isRaw else { return .passphrase(bytes) }
        guard let key = self.bytes(ofDigits: bytes), [32, 48].contains(key.count) else { throw KeySourceError.noRawKey }
        return try .raw(key[..<32], salt: key.count > 32 ? key[32...] : nil)
    }

    /// The bytes that pairs of hexadecimal digits stand for; nil for other characters.
    private static func bytes(ofDigits text: some Collection<UInt8>) -> [UInt8]? {
        let digits = text.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// The reason for which a key cannot be read.
enum KeySourceError: Error, CustomStringConvertible {
    case noVariable(String)
    case noFile(String)
    case readableByOthers(String)
    case noDescriptor(Int32)
    case noRawKey
    case noSalt
    case different
    case severalLines(String)
    case tooLong

    var description: String {
        switch self {
        case .noVariable(let name): "the environment variable \(name) is not set"
        case .noFile(let path): "the key file \(path) cannot be read"
        case .readableByOthers(let path): "the key file \(path) can be read by other users: change its mode to 600"
        case .noDescriptor(let number): "the file descriptor \(number) cannot be read"
        case .noRawKey: "a raw key has 64 hexadecimal digits, or 96 with its salt"
        case .noSalt: "a salt has 32 hexadecimal digits"
        case .different: "the new passphrases differ"
        case .severalLines(let path): "the key file \(path) has more than one line"
        case .tooLong: "the key is longer than 4096 bytes"
        }
    }
}
