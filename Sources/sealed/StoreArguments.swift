import ArgumentParser
import Foundation
import SealedData

/// The arguments that name a store, which all commands share.
struct StoreArguments: ParsableArguments {
    @Argument(help: "The store's file.")
    var file: String

    @OptionGroup var key: KeyArguments

    /// Opens the store with its key, and closes it after `body`.
    ///
    /// - Parameter includesSetAside: Whether the store also has the entities and properties that are set aside in it.
    func withStore(includesSetAside: Bool = false, _ body: (ExaminedStore) throws -> Void) throws {
        try ExitStatus.reporting { try open(includesSetAside: includesSetAside, body) }
    }

    private func open(includesSetAside: Bool, _ body: (ExaminedStore) throws -> Void) throws {
        let url = URL(filePath: file, directoryHint: .notDirectory)
        let store = try ExaminedStore(url, key: key.key(of: file), includesSetAside: includesSetAside)
        defer { store.close() }
        try body(store)
    }
}
