import ArgumentParser
import Foundation
import SealedStore
import Terminal

/// `sealed compact FILE [NEW-FILE]`: removes free space.
struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Removes the free space of a store, in place or into a new file.",
        discussion: """
            In place, the new file takes the name of the old one when it is complete. Programs that have the store open \
            have to open it again. With --dry-run, only the free space is printed.

            Examples:
              sealed compact library.store
              sealed compact library.store smaller.store
              sealed compact library.store --remove-set-aside
              sealed compact library.store --dry-run
            """
    )

    @Argument(help: "The store's file.")
    var file: String

    @Argument(help: "The new file; without it, the store itself is compacted.")
    var newFile: String?

    @OptionGroup var key: KeyArguments

    @Flag(help: "Print a lower bound of the gain, and change nothing.")
    var dryRun = false

    @Flag(help: "Remove for good what the model of the last program does not have, see 'sealed inspect'.")
    var removeSetAside = false

    func validate() throws {
        guard !removeSetAside || (newFile == nil && !dryRun) else {
            throw ValidationError("--remove-set-aside changes the store itself: it takes no new file and no --dry-run.")
        }
    }

    func run() throws {
        try ExitStatus.reporting {
            let isReadOnly = dryRun || newFile != nil
            let opened = try MaintainedStore(file, key: key.key(of: file), isReadOnly: isReadOnly)
            defer { opened.close() }
            let before = try opened.store.space()
            if dryRun {
                let (size, free) = (Int(before.byteCount).grouped, Int(before.freeByteCount).grouped)
                try Output.print("\(size) bytes, of which \(free) are free")
                return
            }
            _ = try ProgressDisplay.run("compact") { progress in
                if let newFile {
                    let target = URL(filePath: newFile, directoryHint: .notDirectory)
                    try opened.store.compact(into: target, progress: progress)
                    return Self.byteCount(newFile)
                }
                return Int(
                    try opened.store.compact(removingSetAside: removeSetAside, progress: progress).after.byteCount
                )
            } result: {
                "\(Int(before.byteCount).grouped) bytes before, \($0.grouped) bytes after"
            }
        }
    }

    private static func byteCount(_ path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }
}
