import CSQLCipher
import Foundation
import Guarded

extension KeyProvider {
    /// Reads the key from an environment variable.
    ///
    /// Other processes of the user can read the environment of a process, and child processes inherit it. Prefer a file
    /// or a file descriptor.
    ///
    /// The variable stays in the environment unless `isRemoved` is true: other parts of the program may need it, and the
    /// C library permits no change of the environment while another thread reads it. A program that removes the
    /// variable does so before it starts threads.
    ///
    /// - Parameters:
    ///   - name: The name of the variable.
    ///   - format: The form of its value.
    ///   - isRemoved: Whether reading removes the variable, and overwrites its value in the memory that other processes
    ///     can read (on Linux as `/proc/PID/environ`). Later calls of ``key()`` throw ``KeyProviderError/notFound(_:)``
    ///     with this reason: keep the key that the first call returns.
    public static func environment(
        _ name: String,
        format: KeyFormat = .passphrase(),
        isRemoved: Bool = false
    ) -> KeyProvider {
        KeyProvider {
            let source = "the environment variable \(name)"
            guard let value = getenv(name) else {
                let wasRemoved = removedVariables.withLock { $0.contains(name) }
                throw KeyProviderError.notFound(
                    wasRemoved ? "\(source), which was overwritten and removed when it was read first" : source
                )
            }
            defer { if isRemoved { remove(name) } }
            let length = strlen(value)
            guard length <= maximumByteCount else { throw KeyProviderError.tooLong(source) }
            let bytes = SecretBytes(count: length) {
                $0.copyMemory(from: UnsafeRawBufferPointer(start: value, count: length))
            }
            return try format.key(bytes, of: source)
        }
    }

    /// The names of the variables that were removed.
    private static let removedVariables = Guarded<Set<String>>([])

    private static func remove(_ variable: String) {
        csqlcipher_cleanse_variable(variable)
        unsetenv(variable)
        removedVariables.withLock { _ = $0.insert(variable) }
    }

    /// Reads the key from a file descriptor up to its end, for example from a pipe that the parent process made, and
    /// closes the descriptor. Only the first call of ``key()`` succeeds.
    public static func fileDescriptor(_ descriptor: Int32, format: KeyFormat = .passphrase()) -> KeyProvider {
        // After the descriptor is closed, its number belongs to the next file that the process opens.
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
        file(path, format: format, hasOneLine: false)
    }

    /// Reads the key from a file that only its owner can read.
    ///
    /// - Parameter hasOneLine: Whether a file with several lines is refused. Otherwise its line breaks are part of the
    ///   passphrase.
    package static func file(_ path: String, format: KeyFormat, hasOneLine: Bool) -> KeyProvider {
        KeyProvider {
            // A pipe without a writer does not block, and a terminal does not become the controlling terminal.
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
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
            let source = "the file \(path)"
            let content = try SecretBytes(readingAll: descriptor, of: source)
            if hasOneLine, content.withoutLineEnd().withUnsafeBytes({ $0.contains(UInt8(ascii: "\n")) }) {
                throw KeyProviderError.unavailable(source, reason: "it has more than one line")
            }
            return try format.key(content, of: source)
        }
    }

    /// Reads the key from the next line of a file descriptor, which stays open: what follows the line is not read.
    package static func line(of descriptor: Int32, format: KeyFormat) -> KeyProvider {
        KeyProvider {
            let source = "file descriptor \(descriptor)"
            return try format.key(SecretBytes(readingLine: descriptor, of: source), of: source)
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
        try self.init(reading: descriptor, of: source, byteCountAtOnce: .max)
    }

    /// Reads a descriptor up to the end of a line or of the file, byte by byte, so that what follows stays in a pipe.
    convenience init(readingLine descriptor: Int32, of source: String) throws {
        try self.init(reading: descriptor, of: source, byteCountAtOnce: 1)
    }

    /// - Parameter byteCountAtOnce: 1 ends the reading with a line feed.
    private convenience init(reading descriptor: Int32, of source: String, byteCountAtOnce: Int) throws {
        let limit = KeyProvider.maximumByteCount
        var count = 0
        let bytes = try SecretBytes(count: limit + 1) { buffer throws in
            while count < buffer.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...].prefix(byteCountAtOnce))
                let received = read(descriptor, rest.baseAddress, rest.count)
                if received < 0, errno == EINTR { continue }
                guard received >= 0 else {
                    throw KeyProviderError.unavailable(source, reason: String(cString: strerror(errno)))
                }
                guard received > 0 else { return }
                count += received
                if byteCountAtOnce == 1, buffer[count - 1] == UInt8(ascii: "\n") { return }
            }
        }
        guard count <= limit else { throw KeyProviderError.tooLong(source) }
        self.init(count: count) { output in
            bytes.withUnsafeBytes { output.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
