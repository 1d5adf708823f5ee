import ArgumentParser
import SealedStore
import Terminal

/// `sealed rekey FILE`: another key for a store.
struct RekeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Encrypts a store with another key.",
        discussion: """
            A new file is written beside the old one, verified, and takes its name in one step: at any instant exactly one \
            of the keys opens the store. Programs that have the store open have to open it again with the new key.

            Examples:
              sealed rekey library.store
              sealed rekey library.store --key-env OLD --new-key-file new-key.txt
            """
    )

    @Argument(help: "The store's file.")
    var file: String

    @OptionGroup var key: KeyArguments
    @OptionGroup var newKey: NewKeyArguments

    func run() throws {
        try ExitStatus.reporting {
            let opened = try MaintainedStore(file, key: key.key(of: file), isReadOnly: false)
            defer { opened.close() }
            let newKey = try newKey.requiredKey()
            _ = try ProgressDisplay.run("rekey") {
                try opened.store.changeKey(to: newKey, progress: $0)
            } result: { _ in
                "the new key is in force"
            }
        }
    }
}
