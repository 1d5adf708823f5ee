import SealedData
import Terminal

/// Makes the objects of a catalogue and saves them in batches.
struct Importer {
    /// The number of packages in one transaction.
    private static let batchSize = 5_000

    private let catalogue: PackageCatalogue
    private let context: ModelContext
    private var sections: [String: Section] = [:]
    private var maintainers: [String: Maintainer] = [:]
    private var packages: [String: Package] = [:]

    /// The counts of resolved and unresolved dependencies of a kind.
    struct DependencyCount {
        let kind: DependencyKind
        /// References from one package to another.
        var resolved = 0
        /// Names that do not match a package or a virtual package of the catalogue.
        var unresolved = 0
    }

    /// Makes an importer with a new context.
    init(_ catalogue: PackageCatalogue, into container: ModelContainer) {
        self.catalogue = catalogue
        context = ModelContext(container)
    }

    /// Saves the packages, then their dependencies.
    ///
    /// - Returns: the number of dependencies by kind.
    mutating func run() throws -> [DependencyCount] {
        try savePackages()
        return try saveDependencies()
    }

    private mutating func savePackages() throws {
        let records = catalogue.records
        var progress = ProgressBar("Packages", total: records.count)
        packages.reserveCapacity(records.count)
        for (position, record) in records.enumerated() {
            insert(record)
            try finishStep(position + 1, of: records.count, &progress)
        }
        try progress.finish(
            "\(records.count.grouped) packages, \(sections.count.grouped) sections, "
                + "\(maintainers.count.grouped) maintainers"
        )
    }

    private mutating func insert(_ record: PackageRecord) {
        let package = Package(
            name: record.name,
            version: record.version,
            architecture: record.architecture,
            priority: record.priority,
            installedSize: record.installedSize,
            summary: record.summary,
            section: record.section.map { section(named: $0) },
            maintainer: record.maintainer.map { maintainer(at: $0) }
        )
        context.insert(package)
        packages[record.name] = package
    }

    private mutating func section(named name: String) -> Section {
        if let known = sections[name] { return known }
        let section = Section(name: name)
        context.insert(section)
        sections[name] = section
        return section
    }

    private mutating func maintainer(at address: String) -> Maintainer {
        if let known = maintainers[address] { return known }
        let maintainer = Maintainer(address: address)
        context.insert(maintainer)
        maintainers[address] = maintainer
        return maintainer
    }

    private func saveDependencies() throws -> [DependencyCount] {
        let resolver = NameResolver(catalogue, objects: packages)
        let records = catalogue.records
        var progress = ProgressBar("Dependencies", total: records.count)
        var counts = DependencyKind.allCases.map { DependencyCount(kind: $0) }
        for (position, record) in records.enumerated() {
            if let package = packages[record.name] {
                for index in counts.indices { relate(package, record, resolver, &counts[index]) }
            }
            try finishStep(position + 1, of: records.count, &progress)
        }
        let total = counts.reduce(0) { $0 + $1.resolved }
        try progress.finish("\(total.grouped) references between packages")
        return counts
    }

    private func relate(
        _ package: Package,
        _ record: PackageRecord,
        _ resolver: NameResolver,
        _ count: inout DependencyCount
    ) {
        guard let groups = record.dependencies[count.kind] else { return }
        var others: [Package] = []
        var seen: Set<Package> = [package]
        for alternatives in groups {
            let found = resolver.packages(for: alternatives)
            if found.isEmpty { count.unresolved += 1 }
            others += found.filter { seen.insert($0).inserted }
        }
        if !others.isEmpty { package[keyPath: count.kind.relationship] = others }
        count.resolved += others.count
    }

    private func finishStep(_ done: Int, of total: Int, _ progress: inout ProgressBar) throws {
        if done.isMultiple(of: Self.batchSize) || done == total { try context.save() }
        progress.show(done)
    }
}
