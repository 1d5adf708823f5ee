import SealedData

/// A subject that packages are filed under, such as `libs` or `contrib/games`.
@Model
final class Section {
    @Attribute(.unique) var name: String
    @Relationship(inverse: \Package.section) var packages: [Package] = []

    init(name: String) {
        self.name = name
    }
}
