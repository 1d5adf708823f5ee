import ArgumentParser
import Foundation
import SealedStore
import Terminal

/// `sealed repair FILE`: rebuilds the data that a store derives from its objects.
struct RepairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Rebuilds indexes and sequences that differ from the objects of a store, in one transaction.",
        discussion: """
            A file that does not open because an index is missing, or because of a foreign trigger, is repaired, too. \
            With --references, references that violate the model are removed, too: those to missing objects, and those \
            whose inverse refers to another object. A file with damaged pages is not repaired: use 'sealed salvage'. \
            Exit status 1 means that problems are left.

            Examples:
              sealed repair library.store
              sealed repair library.store --references --json
            """
    )

    @Argument(help: "The store's file.")
    var file: String

    @OptionGroup var key: KeyArguments

    @Flag(help: "Remove references that violate the model.")
    var references = false

    @Flag(help: "Print the report as JSON.")
    var json = false

    func run() throws {
        try ExitStatus.reporting {
            let url = URL(filePath: file, directoryHint: .notDirectory)
            let key = try key.key(of: file)
            let options: StoreRepairOptions = references ? [.derivedData, .references] : .derivedData
            let report = try ProgressDisplay.run("repair") {
                try SealedStore.repair(url, key: key, options, progress: $0)
            } result: {
                "\($0.repaired.count) repaired, \($0.check.summary)"
            }
            if json {
                try printJSON(RepairJSON(report))
            } else {
                for problem in report.repaired { try Output.print("repaired: \(problem)") }
                try report.check.printLines()
            }
            guard report.check.isSound else { throw ExitCode(ExitStatus.problemsFound.rawValue) }
        }
    }
}
