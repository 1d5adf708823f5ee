import Foundation
import SealedData
import Terminal

/// Prints the results of queries on a reopened store.
struct StoreReport {
    private static let rowCount = 10

    private let context: ModelContext

    init(_ container: ModelContainer) {
        context = ModelContext(container)
    }

    /// Prints the number of objects of each class.
    ///
    /// - Returns: the number of packages.
    func printCounts() throws -> Int {
        let packages = try context.fetchCount(FetchDescriptor<Package>())
        let sections = try context.fetchCount(FetchDescriptor<Section>())
        let maintainers = try context.fetchCount(FetchDescriptor<Maintainer>())
        try Output.print(
            "  \(packages.grouped) packages, \(sections.grouped) sections, \(maintainers.grouped) maintainers"
        )
        return packages
    }

    /// Prints the sections with the most packages.
    func printLargestSections() throws {
        let sections = try context.fetch(FetchDescriptor<Section>()).map { section in
            let packages = section.packages
            let size = packages.reduce(0) { $0 + ($1.installedSize ?? 0) }
            return (name: section.name, count: packages.count, size: size)
        }
        let rows = sections.sorted { ($1.count, $0.name) < ($0.count, $1.name) }.prefix(Self.rowCount).map {
            [$0.name, $0.count.grouped, "\(($0.size / 1024).grouped) MiB"]
        }
        try printTable("Largest sections", [.text("section"), .number("packages"), .number("installed size")], rows)
    }

    /// Prints the packages with the most dependants, counted by following relationships.
    func printMostNeededPackages() throws {
        let packages = try context.fetch(FetchDescriptor<Package>()).map { package in
            (package: package, name: package.name, count: package.requiredBy.count + package.preRequiredBy.count)
        }
        let rows = packages.sorted { ($1.count, $0.name) < ($0.count, $1.name) }.prefix(Self.rowCount).map {
            [
                $0.name, $0.count.grouped, $0.package.recommendedBy.count.grouped,
                $0.package.suggestedBy.count.grouped,
            ]
        }
        try printTable(
            "Packages with most dependants",
            [.text("package"), .number("required by"), .number("recommended by"), .number("suggested by")],
            rows
        )
    }

    /// Prints packages whose description contains a text.
    func printSearch(for text: String) throws {
        let predicate = #Predicate<Package> { $0.summary.contains(text) }
        var descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])
        let count = try context.fetchCount(descriptor)
        descriptor.fetchLimit = Self.rowCount
        let rows = try context.fetch(descriptor).map { [$0.name, $0.section?.name ?? "", $0.summary] }
        try printTable(
            "Descriptions that contain \"\(text)\": \(count.grouped)",
            [.text("package"), .text("section"), .text("description")],
            rows
        )
    }

    /// Returns texts in the store, to search for in its file.
    func samples() throws -> [String] {
        var descriptor = FetchDescriptor<Package>()
        descriptor.fetchLimit = 1_000
        let packages = try context.fetch(descriptor)
        // A short word could occur in any large file by chance.
        let names = packages.map(\.name).filter { $0.utf8.count >= 8 }.prefix(20)
        let summaries = packages.map(\.summary).filter { $0.utf8.count >= 8 }.prefix(20)
        return Array(names + summaries)
    }

    private func printTable(_ title: String, _ columns: [TextTable.Column], _ rows: [[String]]) throws {
        try Output.print()
        try Output.print(title)
        let room = Terminal.width.map { $0 - 2 } ?? 100
        for line in TextTable.lines(columns, rows, width: room) { try Output.print("  \(line)") }
        try Output.flush()
    }
}
