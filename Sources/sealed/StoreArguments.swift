import ArgumentParser
import Foundation
import SealedData

/// The arguments that name a store, which all commands share.
struct StoreArguments: ParsableArguments {
    @Argument(help: "The store's file.")
    var file: String

    @OptionGroup var key: KeyArguments

    /// Opens the store with its key, and closes it after `body`.
    func withStore(_ body: (OpenStore) throws -> Void) throws {
        try ExitStatus.reporting { try open(body) }
    }

    private func open(_ body: (OpenStore) throws -> Void) throws {
        let store = try OpenStore(URL(filePath: file, directoryHint: .notDirectory), key: key.key(of: file))
        defer { store.close() }
        try body(store)
    }
}
