import ArgumentParser
import Foundation
import SealedData
import Terminal

/// The demo: a package index goes into an encrypted store and is asked questions there.
@main
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sealed-demo",
        abstract: "Reads a Debian package index into an encrypted store and asks it questions.",
        discussion: """
            Without FILE it reads the package lists of apt, or the status file of dpkg where there are none. The \
            passphrase comes from SEALED_PASSPHRASE or, with --ask, from the terminal; it is \
            '\(DemoPassphrase.standard)' otherwise.
            """
    )

    @Argument(help: "A package index, such as a 'Packages' list or '/var/lib/dpkg/status'.")
    var file: String?

    @Option(help: ArgumentHelp("Where to make the store; a new temporary folder otherwise.", valueName: "path"))
    var store: String?

    @Flag(help: "Replace the file at the store's path.")
    var replace = false

    @Flag(help: "Ask for the passphrase.")
    var ask = false

    @Option(help: ArgumentHelp("What to look for in the descriptions.", valueName: "text"))
    var search = "encrypt"

    func run() throws {
        // What was printed has to appear before an error does.
        defer { Terminal.flush() }
        print("Reading")
        let input = try readInput()
        guard !input.catalogue.records.isEmpty else {
            guard input.isEmpty else { throw DemoError.noPackages }
            print("  The input is empty: there is nothing to store.")
            return
        }
        let passphrase = try DemoPassphrase(asks: ask)
        let location = try StoreLocation(path: store, replaces: replace)

        print("\nSaving into \(location.url.path(percentEncoded: false))")
        try save(input.catalogue, at: location.url, key: passphrase.key)

        print("\nThe store is closed, and opened again with its passphrase")
        let samples = try report(at: location.url, key: passphrase.key, expecting: input.catalogue.records.count)

        print("\nA wrong passphrase")
        let content = try FileReport(location.url)
        try showRefusal(at: location.url, wrongKey: passphrase.wrongKey)
        guard try FileReport(location.url).hasSameContent(as: content) else { throw DemoError.fileChanged }

        print("\nThe file without its passphrase")
        try content.printFindings(searchingFor: samples)

        print("\nThe same store with other tools")
        OpeningInstructions(
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
                do { try input.read(list) } catch let error as PackageIndex.ReadingError { print("  \(error)") }
            }
            if input.catalogue.records.isEmpty { try input.read(.statusOfDpkg) }
        }
        let merged = input.catalogue.mergedCount
        if merged > 0 { print("  further versions of the same packages: \(merged.grouped); the newest one counts") }
        if input.problemCount > 0 { print("  malformed lines: \(input.problemCount.grouped)") }
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

    /// Saves everything in a store that is closed when this returns, because nothing refers to it any more.
    private func save(_ catalogue: PackageCatalogue, at url: URL, key: EncryptionKey) throws {
        var importer = Importer(catalogue, into: try makeContainer(at: url, key: key))
        let counts = try importer.run()
        let columns: [TextTable.Column] = [.text("dependency"), .number("references"), .number("unknown names")]
        let rows = counts.map { [$0.kind.fieldName, $0.resolved.grouped, $0.unresolved.grouped] }
        print("")
        for line in TextTable.lines(columns, rows) { print("  \(line)") }
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
            print("  is refused: \(error)")
            return
        }
        throw DemoError.wrongPassphraseAccepted
    }
}
