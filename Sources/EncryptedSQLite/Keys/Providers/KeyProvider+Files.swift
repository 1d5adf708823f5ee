import CSQLCipher
import Foundation
import Guarded

extension KeyProvider {
    /// Reads the key from an environment variable.
    ///
    /// Other processes of the user can read the environment of a process, and child processes inherit it. Prefer a file
    /// or a file descriptor.
    ///
    /// - Parameters:
    ///   - name: The name of the variable.
    ///   - format: The form of its value.
    ///   - isRemoved: Whether reading overwrites and removes the variable. Only the first call of ``key()`` succeeds
    ///     then.
    public static func environment(
        _ name: String,
        format: KeyFormat = .passphrase(),
        isRemoved: Bool = false
    ) -> KeyProvider {
        KeyProvider {
            let source = "the environment variable \(name)"
            guard let value = getenv(name) else { throw KeyProviderError.notFound(source) }
            let length = strlen(value)
            guard length <= maximumByteCount else { throw KeyProviderError.tooLong(source) }
            let bytes = SecretBytes(count: length) {
                $0.copyMemory(from: UnsafeRawBufferPointer(start: value, count: length))
            }
            if isRemoved {
                OPENSSL_cleanse(value, length)
                unsetenv(name)
            }
            return try format.key(bytes, of: source)
        }
    }

    /// Reads the key from a file descriptor up to its end, for example from a pipe that the parent process made, and
    /// closes the descriptor. Only the first call of ``key()`` succeeds.
    public static func fileDescriptor(_ descriptor: Int32, format: KeyFormat = .passphrase()) -> KeyProvider {
        // After it is closed, the number belongs to the next file that the process opens.
        let owned = Guarded<Int32?>(descriptor)
        return KeyProvider {
            let source = "file descriptor \(descriptor)"
            let taken = owned.withLock { owned in
                defer { owned = nil }
                return owned
            }
            guard let descriptor = taken else { throw KeyProviderError.notFound(source) }
            defer { close(descriptor) }
            return try format.key(SecretBytes(readingAll: descriptor, of: source), of: source)
        }
    }

    /// Reads the key from a file that only its owner can read.
    ///
    /// - Throws: ``key()`` throws ``KeyProviderError/insecure(path:reason:)`` if the path is a symbolic link or leads
    ///   to anything but a regular file, if the file belongs to another user than this process's or the superuser, or
    ///   if its permissions are others than 0600 or 0400.
    public static func file(_ path: String, format: KeyFormat = .passphrase()) -> KeyProvider {
        KeyProvider {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else {
                switch errno {
                case ENOENT: throw KeyProviderError.notFound("the file \(path)")
                case ELOOP, EMLINK: throw KeyProviderError.insecure(path: path, reason: "it is a symbolic link")
                default: throw DatabaseError(systemError: errno, path: path)
                }
            }
            defer { close(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw DatabaseError(systemError: errno, path: path) }
            if let reason = reasonAgainst(status) { throw KeyProviderError.insecure(path: path, reason: reason) }
            return try format.key(SecretBytes(readingAll: descriptor, of: "the file \(path)"), of: "the file \(path)")
        }
    }

    private static func reasonAgainst(_ status: stat) -> String? {
        guard status.st_mode & S_IFMT == S_IFREG else { return "it is not a regular file" }
        guard status.st_uid == geteuid() || status.st_uid == 0 else { return "it belongs to another user" }
        guard [0o600, 0o400].contains(status.st_mode & 0o7777) else { return "its permissions must be 0600 or 0400" }
        return nil
    }
}

extension SecretBytes {
    /// Reads a descriptor up to its end.
    convenience init(readingAll descriptor: Int32, of source: String) throws {
        let limit = KeyProvider.maximumByteCount
        var count = 0
        let bytes = try SecretBytes(count: limit + 1) { buffer throws in
            while count < buffer.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                let received = read(descriptor, rest.baseAddress, rest.count)
                if received < 0, errno == EINTR { continue }
                guard received >= 0 else {
                    throw KeyProviderError.unavailable(source, reason: String(cString: strerror(errno)))
                }
                guard received > 0 else { return }
                count += received
            }
        }
        guard count <= limit else { throw KeyProviderError.tooLong(source) }
        self.init(count: count) { output in
            bytes.withUnsafeBytes { output.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
