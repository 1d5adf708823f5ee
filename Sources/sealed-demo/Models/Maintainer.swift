import SealedData

/// A person or team that maintains packages.
@Model
final class Maintainer {
    /// Name and e-mail address as in the index: `Jane Doe <jane@example.org>`.
    @Attribute(.unique) var address: String
    @Relationship(inverse: \Package.maintainer) var packages: [Package] = []

    init(address: String) {
        self.address = address
    }
}
