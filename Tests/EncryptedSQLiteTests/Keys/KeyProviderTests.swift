import CSQLCipher
@testable import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Keys that are read from their sources. A key proves itself by opening a file.
@Suite(.serialized) struct KeyProviderTests {
    private let folder = TemporaryFolder()
    private let path: String
    private let passphrase = "correct horse"

    init() throws {
        path = folder.filePath("store")
    }

    private func keyFile(_ content: String, permissions: Int = 0o600) throws -> String {
        let file = folder.file("key")
        try Data(content.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.path)
        return file.path
    }

    /// Creates a file with one key, and tries another one.
    private func expect(_ key: EncryptionKey, opensFileOf expected: EncryptionKey) throws {
        let path = folder.filePath(UUID().uuidString)
        try openSample(path, key: expected).close()
        #expect(try key.opens(URL(filePath: path)))
        try openSample(path, key: key).close()
    }

    @Test(arguments: ["correct horse", "correct horse\n", "correct horse\r\n"])
    func `a file's line is the passphrase`(content: String) throws {
        let key = try KeyProvider.file(keyFile(content)).key()
        try expect(key, opensFileOf: .passphrase(passphrase))
    }

    @Test func `raw keys are bytes or hexadecimal digits, with a salt or without`() throws {
        let digits = (1...32).map { String(format: "%02x", $0) }.joined()
        try expect(KeyProvider.file(keyFile(digits + "\n"), format: .hexadecimal).key(), opensFileOf: rawKey())
        try expect(KeyProvider.file(keyFile(digits.uppercased()), format: .hexadecimal).key(), opensFileOf: rawKey())
        try expect(
            KeyProvider.file(keyFile(digits + String(repeating: "a1", count: 16)), format: .hexadecimal).key(),
            opensFileOf: .raw(1...32, salt: [UInt8](repeating: 0xa1, count: 16))
        )
        let bytes = String(decoding: 1...32 as ClosedRange<UInt8>, as: UTF8.self)
        try expect(KeyProvider.file(keyFile(bytes), format: .raw).key(), opensFileOf: rawKey())
    }

    @Test(arguments: [0o644, 0o640, 0o660, 0o604, 0o700]) func `a file that others can read is refused`(mode: Int)
        throws
    {
        let path = try keyFile(passphrase, permissions: mode)
        #expect(throws: KeyProviderError.insecure(path: path, reason: "its permissions must be 0600 or 0400")) {
            try KeyProvider.file(path).key()
        }
        chmod(path, 0o400)
        _ = try KeyProvider.file(path).key()
    }

    @Test func `a link, a folder and a pipe are refused`() throws {
        let link = folder.filePath("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: keyFile(passphrase))
        #expect(throws: KeyProviderError.insecure(path: link, reason: "it is a symbolic link")) {
            try KeyProvider.file(link).key()
        }
        let pipe = folder.filePath("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [folder.path, pipe] {
            #expect(throws: KeyProviderError.insecure(path: path, reason: "it is not a regular file")) {
                try KeyProvider.file(path).key()
            }
        }
    }

    @Test func `missing, empty, malformed and overlong content is refused`() throws {
        let missing = folder.filePath("missing")
        #expect(throws: KeyProviderError.notFound("the file \(missing)")) { try KeyProvider.file(missing).key() }
        let path = folder.filePath("key")
        let source = "the file \(path)"
        for (content, format) in [
            ("", KeyFormat.passphrase()), ("\n", .passphrase()), ("short", .raw), ("abc", .hexadecimal),
            (String(repeating: "g", count: 64), .hexadecimal), (String(repeating: "a", count: 62), .hexadecimal),
        ] {
            #expect(throws: KeyProviderError.malformed(source)) {
                try KeyProvider.file(keyFile(content), format: format).key()
            }
        }
        #expect(throws: KeyProviderError.tooLong(source)) {
            try KeyProvider.file(keyFile(String(repeating: "x", count: 5000))).key()
        }
    }

    @Test func `an environment variable is read, and removed on demand`() throws {
        let name = "SEALED_TEST_\(UInt64.random(in: 0 ... .max))"
        #expect(throws: KeyProviderError.notFound("the environment variable \(name)")) {
            try KeyProvider.environment(name).key()
        }
        setenv(name, passphrase, 1)
        try expect(KeyProvider.environment(name).key(), opensFileOf: .passphrase(passphrase))
        try expect(KeyProvider.environment(name, isRemoved: true).key(), opensFileOf: .passphrase(passphrase))
        #expect(getenv(name) == nil)
        let source = "the environment variable \(name), which was overwritten and removed when it was read first"
        #expect(throws: KeyProviderError.notFound(source)) { try KeyProvider.environment(name).key() }
        setenv(name, passphrase, 1)
        try expect(KeyProvider.environment(name).key(), opensFileOf: .passphrase(passphrase))
        unsetenv(name)
    }

    @Test func `a removed variable is overwritten where the environment has it`() throws {
        let name = "SEALED_TEST_\(UInt64.random(in: 0 ... .max))"
        // The C library puts the text itself into the environment.
        let text = strdup("\(name)=\(passphrase)")
        defer { free(text) }
        #expect(putenv(try #require(text)) == 0)
        _ = try KeyProvider.environment(name, isRemoved: true).key()
        let bytes = UnsafeRawBufferPointer(start: text, count: name.utf8.count + 1 + passphrase.utf8.count)
        #expect(bytes.starts(with: "\(name)=".utf8))
        #expect(bytes.dropFirst(name.utf8.count + 1).allSatisfy { $0 == 0 })
    }

    @Test func `a file descriptor is read to its end and closed`() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let text = passphrase + "\n"
        #expect(text.withCString { write(ends[1], $0, strlen($0)) } == text.utf8.count)
        close(ends[1])
        try expect(KeyProvider.fileDescriptor(ends[0]).key(), opensFileOf: .passphrase(passphrase))
        #expect(throws: KeyProviderError.self) { try KeyProvider.fileDescriptor(-1).key() }
    }

    @Test func `a second reading of a file descriptor leaves other files alone`() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        #expect(passphrase.withCString { write(ends[1], $0, strlen($0)) } == passphrase.utf8.count)
        close(ends[1])
        let provider = KeyProvider.fileDescriptor(ends[0])
        _ = try provider.key()
        // A file that the process opens gets the smallest free number.
        let file = folder.filePath("other")
        try Data("content".utf8).write(to: URL(filePath: file))
        var opened: [Int32] = []
        while !opened.contains(ends[0]), opened.count < 200 { opened.append(open(file, O_RDONLY | O_CLOEXEC)) }
        defer { for descriptor in opened { close(descriptor) } }
        #expect(throws: KeyProviderError.notFound("file descriptor \(ends[0])")) { try provider.key() }
        #expect(opened.filter { fcntl($0, F_GETFD) < 0 }.isEmpty)
    }

    @Test func `a function of the program is a provider`() throws {
        struct NoNetwork: Error {}
        #expect(throws: NoNetwork.self) { try KeyProvider { throw NoNetwork() }.key() }
        try expect(KeyProvider { try rawKey() }.key(), opensFileOf: rawKey())
    }

    #if os(Linux)
        @Test func `the Secret Service is asked through secret-tool, whose arguments hold no secret`() async {
            // The search path belongs to the whole process.
            await #expect(processExitsWith: .success) {
                let folder = TemporaryFolder()
                #expect(
                    throws: KeyProviderError.unavailable(
                        "the Secret Service",
                        reason: "the program secret-tool is not installed"
                    )
                ) {
                    setenv("PATH", folder.path, 1)
                    _ = try KeyProvider.secretService(attributes: ["store": "main"]).key()
                }
                let tool = folder.filePath("secret-tool")
                let script = """
                    #!/bin/sh
                    [ "$*" = "lookup store long" ] && exec head -c 200000 /dev/zero
                    [ "$*" = "lookup application my-app store main" ] || exit 1
                    printf 'correct horse'
                    """
                try Data(script.utf8).write(to: URL(filePath: tool))
                chmod(tool, 0o700)
                let key = try KeyProvider.secretService(attributes: ["store": "main", "application": "my-app"]).key()
                let store = folder.filePath("store")
                try openSample(store, key: .passphrase("correct horse")).close()
                #expect(try key.opens(URL(filePath: store)))
                #expect(throws: KeyProviderError.notFound("the Secret Service")) {
                    try KeyProvider.secretService(attributes: ["store": "other"]).key()
                }
                // The rest of the secret fits into no pipe, and is not read.
                setenv("PATH", folder.path + ":/usr/bin:/bin", 1)
                #expect(throws: KeyProviderError.tooLong("the Secret Service")) {
                    try KeyProvider.secretService(attributes: ["store": "long"]).key()
                }
            }
        }

        @Test func `a key of the kernel's keyring is found by its description`() throws {
            let name = "sealed-test-\(UInt64.random(in: 0 ... .max))"
            do {
                _ = try KeyProvider.kernelKeyring(name).key()
                Issue.record("a key was found")
            } catch KeyProviderError.unavailable {
                return  // Containers often refuse keyrings.
            } catch {
                #expect(error as? KeyProviderError == .notFound("the kernel keyring under '\(name)'"))
            }
            guard passphrase.withCString({ csqlcipher_add_key(name, $0, strlen($0)) }) >= 0 else { return }
            try expect(KeyProvider.kernelKeyring(name).key(), opensFileOf: .passphrase(passphrase))
        }
    #endif
}
