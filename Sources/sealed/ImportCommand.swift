import ArgumentParser
import Foundation
import ObjectGraph
import SealedData
import SealedTransfer
import Terminal

/// `sealed import STORE SOURCE --from FORMAT`: imports objects into a store.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports objects into a store, from text files, Core Data, SwiftData or any SQLite database.",
        discussion: """
            A new store takes its name when it is complete; an import into an existing store is one transaction. The \
            source is never changed. A new store needs a model for text files and Core Data, which 'sealed export --to \
            model' writes; that of a database is inferred.

            The passphrase of the store comes from an option, from the environment variable SEALED_PASSPHRASE, or from \
            the terminal; that of a SQLCipher database from a 'source' option, from SEALED_SOURCE_PASSPHRASE, or from \
            the terminal.

            Examples:
              sealed import books.sealed books.jsonl --from json
              sealed import books.sealed folder-of-csv --from csv --update
              sealed import books.sealed Model.sqlite --from core-data --model model.json
              sealed import shop.sealed shop.db --from sqlcipher3 --interpret orders.placed=unixSeconds
              sealed import shop.sealed shop.db --from sqlcipher --source-raw-key --source-key-file shop.key
            """
    )

    /// The formats of sources.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case json
        case csv
        case coreData = "core-data"
        case sqlite
        case sqlcipher
        case sqlcipher3
    }

    @OptionGroup var keys: KeyArguments

    @OptionGroup var sourceKeys: SourceKeyArguments

    @Argument(help: "The store's file, which is created if it does not exist.")
    var store: String

    @Argument(help: "The file to import; for CSV the folder with a file for each entity.")
    var source: String

    @Option(help: "The format of the source.")
    var from: Format

    @OptionGroup var model: ModelArguments

    @Option(help: "The entity of JSON objects without '_entity', or of a single CSV file.")
    var entity: String?

    @Flag(help: "Updates objects of the store that have the same unique values, instead of refusing them.")
    var update = false

    @Flag(help: "Leaves values out that do not fit, and counts them, instead of refusing the source.")
    var omit = false

    @Option(help: "The meaning of a database column, as TABLE.COLUMN=MEANING; can be repeated.")
    var interpret: [String] = []

    @Flag(help: "Prints the report as JSON.")
    var json = false

    func validate() throws {
        guard !sourceKeys.isAny || [.sqlcipher, .sqlcipher3].contains(from) else {
            throw ValidationError("The format '\(from.rawValue)' has no key.")
        }
    }

    func run() throws {
        try ExitStatus.reporting {
            var target = StoreImport(into: url(store), key: try keys.key(of: store), model: try model.read())
            target.options.existingObjects = update ? .update : .refuse
            target.options.unfitContent = omit ? .omit : .refuse
            let read = try reader()
            let report = try ProgressDisplay.run("import") { progress in
                try read(target, progress)
            } result: { report in
                "\(report.objectCount.grouped) objects"
            }
            try show(report)
        }
    }

    /// Checks the arguments for the format, and returns the function that imports a source of the format.
    private func reader() throws -> (StoreImport, Progress) throws -> ImportReport {
        let source = url(source)
        switch from {
        case .json: return { [entity] in try $0.importJSONLines(from: source, entity: entity, progress: $1) }
        case .csv: return importCSV
        case .coreData: return { try $0.importCoreData(from: source, progress: $1) }
        case .sqlite, .sqlcipher, .sqlcipher3:
            let encryption = try encryption()
            let interpretations = try interpretations()
            return {
                try $0.importDatabase(
                    from: source,
                    encryption: encryption,
                    interpretations: interpretations,
                    progress: $1
                )
            }
        }
    }

    private func url(_ path: String) -> URL { URL(filePath: path, directoryHint: .notDirectory) }

    private func importCSV(_ target: StoreImport, _ progress: Progress) throws -> ImportReport {
        guard let entity else {
            return try target.importCSV(from: URL(filePath: source, directoryHint: .isDirectory), progress: progress)
        }
        return try target.importCSV(from: [entity: url(source)], progress: progress)
    }

    private func encryption() throws -> DatabaseEncryption {
        switch from {
        case .sqlcipher: .sqlCipher4(try sourceKeys.key(of: source))
        case .sqlcipher3: .sqlCipher3(try sourceKeys.key(of: source))
        case .json, .csv, .coreData, .sqlite: .none
        }
    }

    private func interpretations() throws -> [String: ColumnInterpretation] {
        var interpretations: [String: ColumnInterpretation] = [:]
        for text in interpret {
            guard let sign = text.lastIndex(of: "="),
                let meaning = ColumnInterpretation(rawValue: String(text[text.index(after: sign)...]))
            else {
                let known = ColumnInterpretation.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("--interpret takes TABLE.COLUMN=MEANING, with one of \(known).")
            }
            interpretations[String(text[..<sign])] = meaning
        }
        return interpretations
    }

    private func show(_ report: ImportReport) throws {
        if json { return try printJSON(report) }
        let rows = report.entities.map { [$0.entity, $0.inserted.grouped, $0.updated.grouped] }
        let columns: [TextTable.Column] = [.text("entity"), .number("new"), .number("updated")]
        for line in TextTable.lines(columns, rows) { try Output.print(line) }
        for line in report.notImported { try Output.print("not imported: \(line)") }
        for line in report.missing { try Output.print("not in the source: \(line)") }
        for values in report.omitted { try Output.print("left out: \(values)") }
    }
}
