import ArgumentParser
import Foundation
import SealedData
import Terminal

/// The arguments that name a store, which all commands share.
struct StoreArguments: ParsableArguments {
    @Argument(help: "The store's file.")
    var file: String

    /// Opens the store for reading, with the passphrase from the environment or the terminal.
    func open() throws -> OpenStore {
        let passphrase = try Passphrase.fromEnvironment ?? Passphrase.ask("Passphrase of \(file): ")
        return try OpenStore(URL(filePath: file, directoryHint: .notDirectory), key: .passphrase(passphrase))
    }
}
