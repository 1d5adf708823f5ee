import Foundation
import SealedData

/// A package of a Debian archive, with the packages that it refers to and the packages that refer to it.
@Model
final class Package {
    #Index<Package>([\.name])

    var name: String
    var version: String
    var architecture: String
    /// How necessary the package is for a system, such as `required` or `optional`.
    var priority: String?
    /// The estimated size after installation in KiB.
    var installedSize: Int?
    /// The first line of the description.
    var summary: String
    var section: Section?
    var maintainer: Maintainer?

    @Relationship(inverse: \Package.requiredBy) var depends: [Package] = []
    var requiredBy: [Package] = []
    @Relationship(inverse: \Package.preRequiredBy) var preDepends: [Package] = []
    var preRequiredBy: [Package] = []
    @Relationship(inverse: \Package.recommendedBy) var recommends: [Package] = []
    var recommendedBy: [Package] = []
    @Relationship(inverse: \Package.suggestedBy) var suggests: [Package] = []
    var suggestedBy: [Package] = []
    @Relationship(inverse: \Package.enhancedBy) var enhances: [Package] = []
    var enhancedBy: [Package] = []
    @Relationship(inverse: \Package.brokenBy) var breaks: [Package] = []
    var brokenBy: [Package] = []
    @Relationship(inverse: \Package.inConflictWith) var conflicts: [Package] = []
    var inConflictWith: [Package] = []

    init(
        name: String,
        version: String,
        architecture: String,
        priority: String?,
        installedSize: Int?,
        summary: String,
        section: Section?,
        maintainer: Maintainer?
    ) {
        self.name = name
        self.version = version
        self.architecture = architecture
        self.priority = priority
        self.installedSize = installedSize
        self.summary = summary
        self.section = section
        self.maintainer = maintainer
    }
}
