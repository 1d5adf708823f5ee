import ArgumentParser
import Foundation
import SealedData

/// The store of the notes.
struct NoteStore: ParsableArguments {
    @Argument(help: "The path of the store, which is made if it does not exist.")
    var store: String

    /// Opens the store with the passphrase of the environment, or the demo's.
    func open() throws -> ModelContainer {
        try ModelContainer(
            for: Note.self,
            configurations: ModelConfiguration(
                url: URL(filePath: store, directoryHint: .notDirectory),
                key: DemoPassphrase(asks: false).key
            )
        )
    }
}
