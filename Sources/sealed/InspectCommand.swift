import ArgumentParser
import Foundation
import ObjectGraph
import Terminal

/// `sealed inspect FILE`: the metadata and the entities of a store.
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Shows a store's identity, its entities with their properties, and how many objects they have."
    )

    @OptionGroup var arguments: StoreArguments

    @Flag(help: "Show what is set aside like the rest: what the model of the last program does not have.")
    var setAside = false

    func run() throws {
        try arguments.withStore(includesSetAside: setAside) { store in
            let size = try FileManager.default.attributesOfItem(atPath: arguments.file)[.size] as? Int ?? 0
            try Output.print("store     \(store.metadata.uuid)")
            try Output.print("type      \(store.metadata.type)")
            try Output.print("format    \(store.metadata.formatVersion)")
            try Output.print("size      \(size.grouped) bytes")
            try Output.print("entities  \(store.entities.count)")
            for entity in store.entities { try printEntity(entity, of: store) }
            guard !store.setAside.isEmpty else { return }
            try Output.print()
            try Output.print("set aside, since the model of the last program does not have it")
            for item in store.setAside { try Output.print("  \(item.line)") }
        }
    }

    private func printEntity(_ entity: Entity, of store: ExaminedStore) throws {
        var request = FetchRequest(entity)
        request.includesSubentities = false
        let count = entity.isAbstract ? 0 : try store.context.count(request)
        try Output.print()
        try Output.print("\(entity.name)\(Self.kind(of: entity)), \(count.grouped) stored")
        let columns: [TextTable.Column] = [.text("property"), .text("type"), .text("rules")]
        for line in TextTable.lines(columns, entity.properties.map(Self.row)) { try Output.print("  \(line)") }
        for slots in entity.uniquenessConstraints {
            try Output.print("  unique: \(slots.map { entity.properties[$0].name }.joined(separator: ", "))")
        }
    }

    private static func kind(of entity: Entity) -> String {
        let superentity = entity.superentity.map { " (a kind of \($0.name))" } ?? ""
        return (entity.isAbstract ? " (abstract)" : "") + superentity
    }

    /// The name, type and rules of a property.
    private static func row(_ property: Property) -> [String] {
        switch property {
        case .attribute(let attribute):
            return [attribute.name, attribute.type.rawValue, attribute.isOptional ? "optional" : ""]
        case .relationship(let relationship):
            let rules = [
                relationship.isToMany || !relationship.isOptional ? nil : "optional",
                relationship.isOrdered ? "ordered" : nil,
                relationship.inverse.map { "inverse \($0.name)" },
                relationship.deleteRule == .nullify ? nil : "deletes: \(relationship.deleteRule.rawValue)",
            ]
            let type = relationship.destination.name + (relationship.isToMany ? " (many)" : "")
            return [relationship.name, type, rules.compactMap(\.self).joined(separator: ", ")]
        }
    }
}
