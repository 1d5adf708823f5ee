import CSQLCipher
import Dispatch
import Foundation

#if canImport(Security)
    import Security
#endif

extension KeyProvider {
    #if os(Linux)
        /// Reads the key from the kernel's keyrings: a key of type `user`, which the process finds by its description
        /// in its thread, process or session keyring. See keyrings(7).
        ///
        /// ```sh
        /// systemd-ask-password "Passphrase:" | keyctl padd user my-store @u
        /// ```
        ///
        /// - Throws: ``key()`` throws ``KeyProviderError/unavailable(_:reason:)`` if the kernel has no keyrings or a
        ///   container's filter refuses their use.
        public static func kernelKeyring(_ description: String, format: KeyFormat = .passphrase()) -> KeyProvider {
            KeyProvider {
                let source = "the kernel keyring"
                let identifier = csqlcipher_find_key(description)
                guard identifier >= 0 else { throw keyringError(errno, description) }
                var count = 0
                let bytes = try SecretBytes(count: maximumByteCount) { buffer throws in
                    count = csqlcipher_read_key(identifier, buffer.baseAddress, buffer.count)
                    guard count >= 0 else { throw keyringError(errno, description) }
                    guard count <= buffer.count else { throw KeyProviderError.tooLong(source) }
                }
                return try format.key(bytes.prefix(count), of: source)
            }
        }

        private static func keyringError(_ code: Int32, _ description: String) -> KeyProviderError {
            switch code {
            case ENOKEY, EKEYEXPIRED, EKEYREVOKED, EKEYREJECTED: .notFound("the kernel keyring under '\(description)'")
            default: .unavailable("the kernel keyring", reason: String(cString: strerror(code)))
            }
        }
    #endif

    #if os(Linux) || os(macOS)
        /// Reads the key from the desktop's Secret Service (GNOME Keyring, KWallet), through the program `secret-tool`
        /// of libsecret.
        ///
        /// ```sh
        /// secret-tool store --label "My store" application my-app store main
        /// ```
        ///
        /// The service may ask the user to unlock it; the call blocks its thread until the user answers.
        ///
        /// - Parameter attributes: The attributes under which the secret was stored.
        public static func secretService(
            attributes: [String: String],
            format: KeyFormat = .passphrase()
        ) -> KeyProvider {
            KeyProvider {
                let folders = (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":")
                let paths = folders.map { "\($0)/secret-tool" }
                guard let tool = paths.first(where: { $0.hasPrefix("/") && access($0, X_OK) == 0 }) else {
                    throw KeyProviderError.unavailable(
                        "the Secret Service",
                        reason: "the program secret-tool is not installed"
                    )
                }
                return try secret(of: tool, attributes, format)
            }
        }

        /// Reads the standard output of the tool. Its arguments, which all processes can read, hold no secret.
        private static func secret(
            of tool: String,
            _ attributes: [String: String],
            _ format: KeyFormat
        ) throws -> EncryptionKey {
            let process = Process()
            process.executableURL = URL(filePath: tool)
            process.arguments = ["lookup"] + attributes.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
            let output = Pipe()
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            // `waitUntilExit()` would run the run loop of the calling thread, and code of the program in it.
            let ended = DispatchSemaphore(value: 0)
            process.terminationHandler = { _ in ended.signal() }
            do {
                try process.run()
            } catch {
                throw KeyProviderError.unavailable(
                    "the Secret Service",
                    reason: "the program secret-tool cannot be started"
                )
            }
            let source = "the Secret Service"
            let content = Result {
                try SecretBytes(readingAll: output.fileHandleForReading.fileDescriptor, of: source)
            }
            // A tool that still writes ends, instead of waiting until its output is read.
            try? output.fileHandleForReading.close()
            ended.wait()
            let bytes = try content.get()
            guard process.terminationStatus == 0, bytes.count > 0 else { throw KeyProviderError.notFound(source) }
            return try format.key(bytes, of: source)
        }
    #endif

    #if canImport(Security)
        /// Reads the key from Apple's keychain: a generic password.
        ///
        /// - Parameters:
        ///   - service: The service of the item.
        ///   - account: The account of the item.
        ///   - accessGroup: The access group, for keychain items that apps and extensions share.
        ///   - format: The form of the item's data.
        public static func keychain(
            service: String,
            account: String,
            accessGroup: String? = nil,
            format: KeyFormat = .passphrase()
        ) -> KeyProvider {
            KeyProvider {
                var query: [CFString: Any] = [
                    kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
                    kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne,
                ]
                query[kSecAttrAccessGroup] = accessGroup
                var item: CFTypeRef?
                let status = SecItemCopyMatching(query as CFDictionary, &item)
                guard status != errSecItemNotFound else { throw KeyProviderError.notFound("the keychain") }
                guard status == errSecSuccess, var data = item as? Data else {
                    throw KeyProviderError.unavailable("the keychain", reason: "status \(status)")
                }
                defer { data.resetBytes(in: data.startIndex..<data.endIndex) }
                return try format.key(SecretBytes(copying: data), of: "the keychain")
            }
        }
    #endif
}
