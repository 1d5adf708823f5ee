import ArgumentParser
import Foundation
import SealedStore
import Terminal

/// `sealed backup FILE NEW-FILE`: a verified copy of a store.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copies a store to a new encrypted file and verifies each page, while other programs use the store.",
        discussion: """
            The backup has the same key unless an option names another key. The file appears when it is complete. 'sealed \
            restore' puts it in the place of the store.

            Examples:
              sealed backup library.store library-backup.store
              sealed backup library.store /media/disk/library.store --new-key-prompt --replace
            """
    )

    @Argument(help: "The store's file.")
    var file: String

    @Argument(help: "The new file.")
    var newFile: String

    @OptionGroup var key: KeyArguments
    @OptionGroup var newKey: NewKeyArguments

    @Flag(help: "Replace an existing file that no program has open.")
    var replace = false

    func run() throws {
        try ExitStatus.reporting {
            let opened = try MaintainedStore(file, key: key.key(of: file), isReadOnly: true)
            defer { opened.close() }
            let target = URL(filePath: newFile, directoryHint: .notDirectory)
            let newKey = try newKey.key()
            _ = try ProgressDisplay.run("backup") {
                try opened.store.backUp(to: target, key: newKey, replacesExisting: replace, progress: $0)
            } result: { _ in
                newFile
            }
        }
    }
}
