/// The pairs of corresponding old and new declarations, found by name and renaming identifier.
///
/// A renaming identifier applies if the store has that name and the store's declaration under the new name does not
/// have the same identifier. In the second case the renaming has already taken place: an identifier stays in a
/// program's source after the migration, and must not apply again when its name is used for another declaration.
struct NameMatching {
    /// A declaration of an entity or a property.
    struct Declaration {
        let name: String
        let renamingIdentifier: String?
    }

    /// The old name for each new name. No old name has two new ones.
    private(set) var oldNames: [String: String] = [:]

    init(new: [Declaration], old: [Declaration]) {
        let old = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var claimed: Set<String> = []
        var renamed: [(name: String, identifier: String)] = []
        for declaration in new {
            if let identifier = declaration.renamingIdentifier, identifier != declaration.name, old[identifier] != nil,
                old[declaration.name]?.renamingIdentifier != identifier
            {
                renamed.append((declaration.name, identifier))
            } else if old[declaration.name] != nil, claimed.insert(declaration.name).inserted {
                oldNames[declaration.name] = declaration.name
            }
        }
        for (name, identifier) in renamed where claimed.insert(identifier).inserted {
            oldNames[name] = identifier
        }
        for (name, _) in renamed where oldNames[name] == nil && old[name] != nil && claimed.insert(name).inserted {
            oldNames[name] = name
        }
    }
}
