/// The pairs of corresponding old and new declarations, found by name and renaming identifier.
///
/// A renaming identifier applies if the store has a declaration with that name, and the store's declaration under the
/// new name does not have the same identifier. If it has, the renaming has already taken place: an identifier stays in
/// a program's source after the migration, and must not apply again when its name is used for another declaration.
///
/// A new declaration may have the earlier name of a renamed declaration. The renamed declaration then gets the data,
/// and the new declaration gets none. If the store has both names, equal names correspond.
struct NameMatching {
    /// A declaration of an entity or a property.
    struct Declaration {
        let name: String
        let renamingIdentifier: String?
    }

    /// The old name for each new name. No old name has two new names.
    private(set) var oldNames: [String: String] = [:]

    init(new: [Declaration], old: [Declaration]) {
        let old = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var claimed: Set<String> = []
        var renamed: [(name: String, identifier: String)] = []
        var same: [String] = []
        for declaration in new {
            if let identifier = declaration.renamingIdentifier, identifier != declaration.name, old[identifier] != nil,
                old[declaration.name]?.renamingIdentifier != identifier
            {
                if old[declaration.name] == nil, claimed.insert(identifier).inserted {
                    oldNames[declaration.name] = identifier
                } else {
                    renamed.append((declaration.name, identifier))
                }
            } else {
                same.append(declaration.name)
            }
        }
        for name in same where old[name] != nil && claimed.insert(name).inserted { oldNames[name] = name }
        for (name, identifier) in renamed where claimed.insert(identifier).inserted {
            oldNames[name] = identifier
        }
        for (name, _) in renamed where oldNames[name] == nil && old[name] != nil && claimed.insert(name).inserted {
            oldNames[name] = name
        }
    }
}
