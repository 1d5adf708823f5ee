import ArgumentParser
import Foundation
import SealedStore
import Terminal

/// `sealed salvage FILE NEW-FILE`: recovers the readable objects of a damaged store.
struct SalvageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Recovers everything readable from a damaged file into a new store, and reports the losses.",
        discussion: """
            The damaged file stays as it is. The new store has the same key unless an option names another key. Exit \
            status 1 means that objects, values or references were lost. If the model in the file is damaged, the model of \
            another store is used, which 'sealed export --to model' writes.

            Examples:
              sealed salvage damaged.store recovered.store
              sealed salvage damaged.store recovered.store --key-env OLD --new-key-env NEW --json
              sealed salvage damaged.store recovered.store --model model.json
            """
    )

    @Argument(help: "The damaged file.")
    var file: String

    @Argument(help: "The new file.")
    var newFile: String

    @OptionGroup var key: KeyArguments
    @OptionGroup var newKey: NewKeyArguments

    @OptionGroup var model: ModelArguments

    @Flag(help: "Print the report as JSON.")
    var json = false

    func run() throws {
        try ExitStatus.reporting {
            let (source, target) = (
                URL(filePath: file, directoryHint: .notDirectory), URL(filePath: newFile, directoryHint: .notDirectory)
            )
            let key = try key.key(of: file)
            let newKey = try newKey.key()
            let model = try model.read()
            let report = try ProgressDisplay.run("salvage") {
                try SealedStore.salvage(source, key: key, to: target, newKey: newKey, model: model, progress: $0)
            } result: { report in
                let count = report.entities.map(\.recoveredCount).reduce(0, +)
                return "\(count.grouped) objects recovered, \(report.damagedPageCount.grouped) damaged pages"
            }
            if json { try printJSON(SalvageJSON(report)) } else { try Self.printLines(report) }
            guard report.isComplete, report.check.isSound else { throw ExitCode(ExitStatus.problemsFound.rawValue) }
        }
    }

    private static func printLines(_ report: SalvageReport) throws {
        let columns: [TextTable.Column] = [
            .text("entity"), .number("recovered"), .number("lost"), .number("values lost"), .number("references cut"),
        ]
        let rows = report.entities.map { entity in
            [
                entity.entity, entity.recoveredCount.grouped,
                (entity.isLostCountExact ? "" : "about ") + entity.lostCount.grouped,
                entity.lostValues.values.reduce(0, +).grouped, entity.cutReferences.values.reduce(0, +).grouped,
            ]
        }
        for line in TextTable.lines(columns, rows) { try Output.print(line) }
        if report.lostTransactionCount > 0 {
            let count = report.lostTransactionCount.grouped
            try Output.print("\(count) transactions in a damaged part of the log are lost")
        }
        if report.ignoresLog {
            try Output.print("the log beside the file was ignored: it is of another file, or its beginning is damaged")
        }
        if report.outdatedPageCount > 0 {
            let count = report.outdatedPageCount.grouped
            try Output.print("\(count) pages are damaged in the log; their older versions in the file were read")
        }
        if report.lostIdentifierCount > 0 {
            try Output.print("\(report.lostIdentifierCount.grouped) objects have lost their global identifiers")
        }
        try report.check.printLines()
    }
}
