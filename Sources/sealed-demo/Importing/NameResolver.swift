/// Finds the packages that a name in a dependency refers to.
struct NameResolver {
    private let packages: [String: Package]
    /// The packages that provide a virtual package.
    private var providers: [String: [Package]] = [:]

    /// Makes a resolver for the objects of a catalogue's packages.
    init(_ catalogue: PackageCatalogue, objects: [String: Package]) {
        packages = objects
        for record in catalogue.records {
            guard let package = objects[record.name] else { continue }
            for name in record.provides { providers[name, default: []].append(package) }
        }
    }

    /// Returns the packages for alternatives such as `exim4 | mail-transport-agent`: the first known package or, for a
    /// virtual package, all packages that provide it. Empty if none is known.
    func packages(for alternatives: [String]) -> [Package] {
        for name in alternatives {
            if let package = packages[name] { return [package] }
            if let packages = providers[name] { return packages }
        }
        return []
    }
}
