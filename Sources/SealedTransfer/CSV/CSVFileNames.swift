import Foundation
import ObjectGraph

/// The names of the CSV files of entities.
enum CSVFileNames {
    /// The name of an entity's file: characters that no file name can have are percent-encoded.
    static func name(of entity: Entity) -> String {
        var name = entity.name.replacing("%", with: "%25").replacing("/", with: "%2F").replacing("\0", with: "%00")
        if name.hasPrefix(".") { name = "%2E" + name.dropFirst() }
        return name + ".csv"
    }
}
