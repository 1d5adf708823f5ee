/// A source of keys.
///
/// ```swift
/// let key = try KeyProvider.file("/run/secrets/store-key").key()
/// ```
///
/// Providers read the secret into memory that is overwritten. An ``EncryptionKey`` overwrites its copy, too.
public struct KeyProvider: Sendable {
    private let read: @Sendable () throws -> EncryptionKey

    /// Makes a provider from a function, for example one that asks a key server.
    public init(_ key: @escaping @Sendable () throws -> EncryptionKey) {
        read = key
    }

    /// Reads the key.
    ///
    /// - Throws: ``KeyProviderError``; errors of the function; `DatabaseError.invalidKey`; `DatabaseError.cannotOpen` and
    ///   `permissionDenied` for a key file that cannot be opened.
    public func key() throws -> EncryptionKey { try read() }

    /// The longest secret in bytes that a provider reads.
    static let maximumByteCount = 4096
}

/// The form in which a provider's source holds a key.
public enum KeyFormat: Hashable, Sendable {
    /// A passphrase. A line end behind it is not part of it.
    case passphrase(KeyDerivation = .standard)
    /// The 32 bytes of a raw key, or 48 bytes: the key and its salt.
    case raw
    /// The 64 hexadecimal digits of a raw key, or 96 digits: the key and its salt. A line end can follow.
    case hexadecimal

    /// The key in bytes that were typed or read, for example at a prompt.
    ///
    /// - Parameter source: The name of the source, for errors.
    package func key(in bytes: some Sequence<UInt8>, of source: String) throws -> EncryptionKey {
        try key(SecretBytes(copying: bytes), of: source)
    }

    /// The key in the bytes that a source holds.
    func key(_ bytes: SecretBytes, of source: String) throws -> EncryptionKey {
        switch self {
        case .passphrase(let derivation):
            let line = bytes.withoutLineEnd()
            guard line.count > 0 else { throw KeyProviderError.malformed(source) }
            return EncryptionKey(material: .passphrase(line, derivation))
        case .raw:
            return try Self.rawKey(bytes, of: source)
        case .hexadecimal:
            guard let decoded = bytes.withoutLineEnd().decodingHexadecimal() else {
                throw KeyProviderError.malformed(source)
            }
            return try Self.rawKey(decoded, of: source)
        }
    }

    private static func rawKey(_ bytes: SecretBytes, of source: String) throws -> EncryptionKey {
        let lengths = (DerivedKey.byteCount, DerivedKey.byteCount + DerivedKey.saltByteCount)
        guard bytes.count == lengths.0 || bytes.count == lengths.1 else { throw KeyProviderError.malformed(source) }
        let salt = bytes.withUnsafeBytes { Array($0.dropFirst(lengths.0)) }
        return EncryptionKey(material: .raw(bytes.prefix(lengths.0), salt: salt.isEmpty ? nil : salt))
    }
}

/// A failure to read a key from its source. No case holds a part of the key.
public enum KeyProviderError: Error, Hashable, Sendable {
    /// The source has no key.
    case notFound(String)
    /// The content of the source is not a key of the expected form.
    case malformed(String)
    /// The content of the source is longer than any key.
    case tooLong(String)
    /// Other users can read or change the file.
    case insecure(path: String, reason: String)
    /// The system does not have the service, or refuses its use.
    case unavailable(String, reason: String)
}

extension KeyProviderError: CustomStringConvertible {
    /// The problem and its remedy.
    public var description: String {
        switch self {
        case .notFound(let source): "There is no key in \(source)."
        case .malformed(let source): "The content of \(source) is not a key of the expected form."
        case .tooLong(let source): "The content of \(source) is longer than any key."
        case .insecure(let path, let reason): "The key file \(path) is not used: \(reason)."
        case .unavailable(let source, let reason): "The key cannot be read from \(source): \(reason)."
        }
    }
}

extension SecretBytes {
    /// A copy of the first bytes.
    func prefix(_ count: Int) -> SecretBytes {
        withUnsafeBytes { bytes in
            SecretBytes(count: count) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
        }
    }

    /// A copy without a line feed at the end, and without a carriage return before it.
    func withoutLineEnd() -> SecretBytes {
        prefix(
            withUnsafeBytes { bytes in
                guard bytes.last == UInt8(ascii: "\n") else { return bytes.count }
                return bytes.dropLast().last == UInt8(ascii: "\r") ? bytes.count - 2 : bytes.count - 1
            }
        )
    }

    /// The bytes whose hexadecimal digits these are; nil if they are anything else.
    func decodingHexadecimal() -> SecretBytes? {
        func value(_ digit: UInt8) -> UInt8? {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
            default: nil
            }
        }
        guard count.isMultiple(of: 2) else { return nil }
        var isValid = true
        let decoded = withUnsafeBytes { digits in
            SecretBytes(count: count / 2) { output in
                for index in output.indices {
                    guard let high = value(digits[2 * index]), let low = value(digits[2 * index + 1]) else {
                        isValid = false
                        return
                    }
                    output[index] = high << 4 | low
                }
            }
        }
        return isValid ? decoded : nil
    }
}
