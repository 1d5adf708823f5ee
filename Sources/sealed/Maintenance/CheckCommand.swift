import ArgumentParser
import Foundation
import SealedStore
import Terminal

/// `sealed check FILE`: the problems of a store.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks the pages, the indexes, the references and the values of a store. Changes nothing.",
        discussion: """
            The file is opened for reading only. Exit status 1 means that the store has problems.

            Examples:
              sealed check library.store
              sealed check library.store --key-file key.txt --json
            """
    )

    @Argument(help: "The store's file.")
    var file: String

    @OptionGroup var key: KeyArguments

    @Flag(help: "Print the report as JSON.")
    var json = false

    func run() throws {
        try ExitStatus.reporting {
            let url = URL(filePath: file, directoryHint: .notDirectory)
            let key = try key.key(of: file)
            let report = try ProgressDisplay.run("check") {
                try SealedStore.check(url, key: key, progress: $0)
            } result: {
                $0.summary
            }
            if json { try printJSON(CheckJSON(report)) } else { try report.printLines() }
            guard report.isSound else { throw ExitCode(ExitStatus.problemsFound.rawValue) }
        }
    }
}
