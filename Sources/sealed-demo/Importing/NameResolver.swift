/// Finds the packages that a name in a dependency stands for.
struct NameResolver {
    private let packages: [String: Package]
    /// The packages that provide a virtual package.
    private var providers: [String: [Package]] = [:]

    /// Knows the packages of a catalogue by the objects made for them.
    init(_ catalogue: PackageCatalogue, objects: [String: Package]) {
        packages = objects
        for record in catalogue.records {
            guard let package = objects[record.name] else { continue }
            for name in record.provides { providers[name, default: []].append(package) }
        }
    }

    /// What alternatives such as `exim4 | mail-transport-agent` stand for: the first of them that is known, and of a
    /// virtual package everything that provides it. Empty where none is known.
    func packages(for alternatives: [String]) -> [Package] {
        for name in alternatives {
            if let package = packages[name] { return [package] }
            if let packages = providers[name] { return packages }
        }
        return []
    }
}
