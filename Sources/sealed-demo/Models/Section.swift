import SealedData

/// A category of packages, such as `libs` or `contrib/games`.
@Model
final class Section {
    @Attribute(.unique) var name: String
    @Relationship(inverse: \Package.section) var packages: [Package] = []

    init(name: String) {
        self.name = name
    }
}
