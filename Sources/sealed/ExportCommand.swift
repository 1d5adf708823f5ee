import ArgumentParser
import Foundation
import ObjectGraph
import SealedData
import SealedStore
import SealedTransfer
import Terminal

/// `sealed export STORE TARGET --to FORMAT`: exports objects of a store without encryption.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Exports the objects of a store without encryption.",
        discussion: """
            Anyone who can read the target can read the objects; only its owner can at first. No existing file is \
            replaced. 'model' exports the model only, for 'sealed import --model'.

            The passphrase comes from an option, from the environment variable SEALED_PASSPHRASE, or from the terminal.

            Examples:
              sealed export books.sealed books.jsonl --to json
              sealed export books.sealed folder --to csv --entity Book --entity Author
              sealed export books.sealed books.db --to plaintext-sqlite
            """
    )

    /// The formats of targets.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case json
        case csv
        case plaintextSQLite = "plaintext-sqlite"
        case model
    }

    @OptionGroup var keys: KeyArguments

    @Argument(help: "The store's file.")
    var store: String

    @Argument(help: "The new file; for CSV the new folder.")
    var target: String

    @Option(help: "The format of the target.")
    var to: Format

    @Option(help: "An entity to export; can be repeated. All entities without it.")
    var entity: [String] = []

    @Flag(
        help: """
            In CSV, write an apostrophe before each text that a spreadsheet program would evaluate as a formula. An \
            import does not remove it.
            """
    )
    var spreadsheetSafe = false

    @Flag(help: "Export what is set aside, too: what the model of the last program does not have.")
    var setAside = false

    func validate() throws {
        guard !spreadsheetSafe || to == .csv else { throw ValidationError("--spreadsheet-safe is for CSV.") }
    }

    func run() throws {
        try ExitStatus.reporting {
            let key = try keys.key(of: store)
            let storeURL = URL(filePath: store, directoryHint: .notDirectory)
            let file = URL(filePath: target, directoryHint: to == .csv ? .isDirectory : .notDirectory)
            var export = StoreExport(from: storeURL, key: key, entityNames: entity.isEmpty ? nil : Set(entity))
            export.includesSetAside = setAside
            _ = try ProgressDisplay.run("export") { progress in
                try write(export, to: file, progress)
            } result: { text in
                text
            }
        }
    }

    /// Writes the target, and returns the text for its size.
    private func write(_ export: StoreExport, to file: URL, _ progress: Progress) throws -> String {
        switch to {
        case .json: try export.exportJSONLines(to: file, progress: progress)
        case .csv: try export.exportCSV(to: file, isSafeForSpreadsheets: spreadsheetSafe, progress: progress)
        case .plaintextSQLite: try export.exportPlaintext(to: file, progress: progress)
        case .model:
            try export.exportModel(to: file)
            return "the model"
        }
        return "\(Int(progress.completedUnitCount).grouped) objects"
    }
}
