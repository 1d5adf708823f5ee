import ArgumentParser
import Foundation
import SealedStore
import Terminal

/// `sealed restore BACKUP FILE`: a backup in the place of a store.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Puts the content of a backup in the place of a store that no program has open.",
        discussion: """
            The store is replaced with the files beside it: its last saves can be in a log, which must not meet the backup. \
            The backup is copied and verified first, and stays as it is. At any instant either the old store or the \
            restored one opens. The restored store has the key of the backup unless an option names another key.

            Examples:
              sealed restore library-backup.store library.store
              sealed restore library-backup.store library.store --key-env OLD --new-key-prompt
            """
    )

    @Argument(help: "The backup's file.")
    var backup: String

    @Argument(help: "The store's file, which is created if it does not exist.")
    var file: String

    @OptionGroup var key: KeyArguments
    @OptionGroup var newKey: NewKeyArguments

    func run() throws {
        try ExitStatus.reporting {
            let (source, target) = (
                URL(filePath: backup, directoryHint: .notDirectory), URL(filePath: file, directoryHint: .notDirectory)
            )
            let key = try key.key(of: backup)
            let newKey = try newKey.key()
            _ = try ProgressDisplay.run("restore") {
                try SealedStore.restore(source, key: key, to: target, newKey: newKey, progress: $0)
            } result: { _ in
                file.printable
            }
        }
    }
}
