import ArgumentParser
import Foundation
import SealedData
import Terminal

/// Imports a package index into an encrypted store, and queries the store.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports a Debian package index into an encrypted store and queries it.",
        discussion: """
            Without FILE it reads the package lists of apt, or the status file of dpkg if apt has none. The \
            passphrase comes from SEALED_PASSPHRASE or, with --ask, from the terminal; it is \
            '\(DemoPassphrase.standard)' otherwise.
            """
    )

    @Argument(help: "A package index, such as a 'Packages' list or '/var/lib/dpkg/status'.")
    var file: String?

    @Option(help: ArgumentHelp("The path of the store; by default in a new temporary folder.", valueName: "path"))
    var store: String?

    @Flag(help: "Replace the file at the store's path.")
    var replace = false

    @Flag(help: "Ask for the passphrase.")
    var ask = false

    @Option(help: ArgumentHelp("The text to search for in descriptions.", valueName: "text"))
    var search = "encrypt"

    func run() throws {
        try Output.print("Reading")
        let input = try readInput()
        guard !input.catalogue.records.isEmpty else {
            guard input.isEmpty else { throw DemoError.noPackages }
            try Output.print("  The input is empty: no store is created.")
            return
        }
        let passphrase = try DemoPassphrase(asks: ask)
        let location = try StoreLocation(path: store, replaces: replace)

        try Output.print()
        try Output.print("Saving into \(location.url.path(percentEncoded: false))")
        try save(input.catalogue, at: location.url, key: passphrase.key)

        try Output.print()
        try Output.print("The store is closed, and opened again with its passphrase")
        let samples = try report(at: location.url, key: passphrase.key, expecting: input.catalogue.records.count)

        try Output.print()
        try Output.print("A wrong passphrase")
        let content = try FileReport(location.url)
        try showRefusal(at: location.url, wrongKey: passphrase.wrongKey)
        guard try FileReport(location.url).hasSameContent(as: content) else { throw DemoError.fileChanged }

        try Output.print()
        try Output.print("The file without its passphrase")
        try content.printFindings(searchingFor: samples)

        try Output.print()
        try Output.print("The same store with other tools")
        try OpeningInstructions(
            store: location.url,
            showsPassphrase: passphrase.isStandard,
            packageCount: input.catalogue.records.count
        ).printAll()
    }

    private func readInput() throws -> InputReader {
        var input = InputReader()
        if let file {
            try input.read(PackageIndex(path: file))
        } else {
            for list in PackageIndex.listsOfApt {
                do { try input.read(list) } catch let error as PackageIndex.ReadingError {
                    try Output.print("  \(error)")
                }
            }
            if input.catalogue.records.isEmpty { try input.read(.statusOfDpkg) }
        }
        let merged = input.catalogue.mergedCount
        if merged > 0 {
            try Output.print("  further versions of the same packages: \(merged.grouped); the newest is stored")
        }
        if input.problemCount > 0 { try Output.print("  malformed lines: \(input.problemCount.grouped)") }
        return input
    }

    private func makeContainer(at url: URL, key: EncryptionKey) throws -> ModelContainer {
        try ModelContainer(
            for: Package.self,
            Section.self,
            Maintainer.self,
            configurations: ModelConfiguration(url: url, key: key)
        )
    }

    /// Saves the catalogue into a store. The store is closed on return, because no reference to it remains.
    private func save(_ catalogue: PackageCatalogue, at url: URL, key: EncryptionKey) throws {
        var importer = Importer(catalogue, into: try makeContainer(at: url, key: key))
        let counts = try importer.run()
        let columns: [TextTable.Column] = [.text("dependency"), .number("references"), .number("unknown names")]
        let rows = counts.map { [$0.kind.fieldName, $0.resolved.grouped, $0.unresolved.grouped] }
        try Output.print()
        for line in TextTable.lines(columns, rows) { try Output.print("  \(line)") }
    }

    private func report(at url: URL, key: EncryptionKey, expecting count: Int) throws -> [String] {
        let report = StoreReport(try makeContainer(at: url, key: key))
        let found = try report.printCounts()
        guard found == count else { throw DemoError.countDiffers(saved: count, found: found) }
        try report.printLargestSections()
        try report.printMostNeededPackages()
        try report.printSearch(for: search)
        return try report.samples()
    }

    private func showRefusal(at url: URL, wrongKey: EncryptionKey) throws {
        do {
            _ = try makeContainer(at: url, key: wrongKey)
        } catch {
            try Output.print("  is rejected: \(error)")
            return
        }
        throw DemoError.wrongPassphraseAccepted
    }
}
