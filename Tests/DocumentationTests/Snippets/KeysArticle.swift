// swift-format-ignore-file
// The Swift code of the article about keys and files, line by line: a test compares.

import Foundation
import SealedData

enum KeysArticle {
    static func askForPassphrase(of name: String) async throws -> String { name }

    static func read(_ url: URL) throws -> ModelConfiguration {
        let configuration = ModelConfiguration(url: url, key: try KeyProvider.file("/run/secrets/trips").key())
        return configuration
    }

    static func open(_ schema: Schema, _ configuration: ModelConfiguration) async throws -> ModelContainer {
        let container = try await ModelContainer.open(for: schema, configurations: [configuration]) { configuration in
            try await .passphrase(askForPassphrase(of: configuration.name))
        }
        return container
    }

    static func examine(_ url: URL, _ key: EncryptionKey) throws {
        let file = try StoreFile(at: url)
        if file.kind == .encrypted, try key.opens(url) {
            print("the key is right")
        }
    }

    static func change(_ container: ModelContainer, _ newPassphrase: String) throws {
        let progress = Progress(totalUnitCount: 100)
        try container.changeKey(to: .passphrase(newPassphrase), progress: progress)
    }

    static func lock(_ container: ModelContainer, _ passphrase: String) throws {
        container.lock()
        try container.unlock(with: .passphrase(passphrase))
    }

    static func preventCoreDumps() {
        EncryptionKey.preventCoreDumps()
    }

    static func suspend(_ container: ModelContainer) throws {
        container.suspend()
        try container.resume()
    }

    static func header(_ url: URL, _ passphrase: String, _ salt: [UInt8]) throws -> ModelConfiguration {
        let configuration = ModelConfiguration(
            url: url,
            key: try .passphrase(passphrase).withPlaintextHeader(salt: salt)
        )
        return configuration
    }

    static func derive(_ passphrase: String) -> EncryptionKey {
        let key = EncryptionKey.passphrase(passphrase, derivation: .scrypt(cost: 1 << 17))
        return key
    }
}
