import ArgumentParser
import EncryptedSQLite
import Foundation
import Guarded
import Terminal

/// The options that name the source of a key. A key itself is never an argument.
struct KeyArguments: ParsableArguments {
    @Option(
        help: """
            The file that contains the passphrase, in one line: a regular file, not a link, of this user with the \
            permissions 0600 or 0400. For a pipe, use --key-fd.
            """
    )
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
        let form = KeyForm(isRaw: rawKey, headerSalt: salt)
        let source = KeySource(file: keyFile, descriptor: keyFd, variable: keyEnv, default: Passphrase.variable)
        return try source?.key(form) ?? form.ask("Passphrase of \(file): ")
    }
}

/// The options that name the source of the key of a new file.
struct NewKeyArguments: ParsableArguments {
    @Option(help: "The file that contains the new passphrase, under the rules of --key-file.")
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
        return try KeySource(file: newKeyFile, descriptor: newKeyFd, variable: newKeyEnv)?.key(form)
    }

    /// The new key, which is asked for without options for one.
    func requiredKey() throws -> EncryptionKey { try key() ?? ask() }

    private func ask() throws -> EncryptionKey {
        let first = try Passphrase.ask("New passphrase: ")
        guard try Passphrase.ask("New passphrase again: ") == first else { throw KeySourceError.different }
        return try form.key(first)
    }

    private var form: KeyForm { KeyForm(isRaw: newRawKey, headerSalt: newSalt) }
}

/// The options that name the source of the key of an encrypted database that is imported.
struct SourceKeyArguments: ParsableArguments {
    @Option(help: "The file that contains the passphrase of the imported database, under the rules of --key-file.")
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
        let form = KeyForm(isRaw: sourceRawKey, headerSalt: sourceSalt)
        let source = KeySource(
            file: sourceKeyFile,
            descriptor: sourceKeyFd,
            variable: sourceKeyEnv,
            default: Self.variable
        )
        return try source?.key(form) ?? form.ask("Passphrase of \(file): ")
    }
}

/// The source of a key. `KeyProvider` reads it, with the rules that programs have.
enum KeySource {
    case file(String)
    case descriptor(Int32)
    case variable(String)

    /// The source that an option names, else the default variable if it is set; nil if there is none.
    init?(
        file: String? = nil,
        descriptor: Int32? = nil,
        variable: String? = nil,
        default defaultVariable: String? = nil
    ) {
        if let file {
            self = .file(file)
        } else if let descriptor {
            self = .descriptor(descriptor)
        } else if let variable {
            self = .variable(variable)
        } else if let defaultVariable, Self.isSet(defaultVariable) {
            self = .variable(defaultVariable)
        } else {
            return nil
        }
    }

    /// Reads the key.
    ///
    /// - Throws: `KeyProviderError`, `KeySourceError`; `DatabaseError` for a file that cannot be opened.
    func key(_ form: KeyForm) throws -> EncryptionKey {
        switch self {
        case .file(let path): try form.key(of: .file(path, format: form.format, hasOneLine: true))
        case .descriptor(let number): try form.key(of: .line(of: number, format: form.format))
        case .variable(let name): try Self.key(ofVariable: name, form)
        }
    }

    /// A variable with a key. Two options may name the same variable.
    private struct Variable: Hashable {
        let name: String
        let isRaw: Bool
    }

    /// The keys of the variables that were read, which removes the variables from the environment.
    private static let keys = Guarded<[Variable: EncryptionKey]>([:])

    private static func isSet(_ name: String) -> Bool {
        getenv(name) != nil || keys.withLock { $0.keys.contains { $0.name == name } }
    }

    private static func key(ofVariable name: String, _ form: KeyForm) throws -> EncryptionKey {
        let variable = Variable(name: name, isRaw: form.isRaw)
        if let known = keys.withLock({ $0[variable] }) { return try form.withSalt(known) }
        let key = try KeyForm(isRaw: form.isRaw, headerSalt: nil)
            .key(of: .environment(name, format: form.format, isRemoved: true))
        keys.withLock { $0[variable] = key }
        return try form.withSalt(key)
    }
}

/// The form of a key in its source.
struct KeyForm {
    /// Whether the key is not a passphrase, but hexadecimal digits.
    let isRaw: Bool
    /// The salt of a file with a plaintext header, as hexadecimal digits.
    let headerSalt: String?

    /// A passphrase.
    static let passphrase = KeyForm(isRaw: false, headerSalt: nil)

    fileprivate var format: KeyFormat { isRaw ? .hexadecimal : .passphrase() }

    /// Asks for the key on the terminal.
    fileprivate func ask(_ question: String) throws -> EncryptionKey { try key(Passphrase.ask(question)) }

    /// The key that was typed.
    fileprivate func key(_ bytes: [UInt8]) throws -> EncryptionKey {
        try key(of: KeyProvider { try format.key(in: bytes, of: "the terminal") })
    }

    /// The key of a provider with ``format``.
    fileprivate func key(of provider: KeyProvider) throws -> EncryptionKey {
        do {
            return try withSalt(provider.key())
        } catch KeyProviderError.malformed {
            throw isRaw ? KeySourceError.noRawKey : KeySourceError.empty
        }
    }

    /// The key with the salt of the header, if there is one.
    fileprivate func withSalt(_ key: EncryptionKey) throws -> EncryptionKey {
        guard let headerSalt else { return key }
        let digits = headerSalt.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 32, headerSalt.utf8.count == 32 else { throw KeySourceError.noSalt }
        return try key.withPlaintextHeader(
            salt: stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        )
    }
}

/// The reason for which a key cannot be used.
enum KeySourceError: Error, CustomStringConvertible {
    case noRawKey
    case noSalt
    case different
    case empty

    var description: String {
        switch self {
        case .noRawKey: "a raw key has 64 hexadecimal digits, or 96 with its salt"
        case .noSalt: "a salt has 32 hexadecimal digits"
        case .different: "the new passphrases differ"
        case .empty: "the passphrase is empty"
        }
    }
}
