import ArgumentParser
import Foundation
import SealedData
import Terminal

/// The arguments that name a store, which all commands share.
struct StoreArguments: ParsableArguments {
    @Argument(help: "The store's file.")
    var file: String

    /// Opens the store with the passphrase from the environment or the terminal, and closes it after `body`.
    func withStore(_ body: (OpenStore) throws -> Void) throws {
        let passphrase = try Passphrase.fromEnvironment ?? Passphrase.ask("Passphrase of \(file): ")
        let store = try OpenStore(URL(filePath: file, directoryHint: .notDirectory), key: .passphrase(passphrase))
        // The output must precede an error.
        defer {
            Terminal.flush()
            store.close()
        }
        try body(store)
    }
}
