/// The ways in which a package refers to other packages (Debian Policy Manual, section 7.2).
enum DependencyKind: String, CaseIterable {
    case depends = "Depends"
    case preDepends = "Pre-Depends"
    case recommends = "Recommends"
    case suggests = "Suggests"
    case enhances = "Enhances"
    case breaks = "Breaks"
    case conflicts = "Conflicts"

    /// The name of the field in a package index.
    var fieldName: String { rawValue }

    /// The relationship that holds the packages referred to.
    var relationship: ReferenceWritableKeyPath<Package, [Package]> {
        switch self {
        case .depends: \.depends
        case .preDepends: \.preDepends
        case .recommends: \.recommends
        case .suggests: \.suggests
        case .enhances: \.enhances
        case .breaks: \.breaks
        case .conflicts: \.conflicts
        }
    }
}
