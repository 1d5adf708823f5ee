import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore

/// Saves entries to a store, one pair after the other, until it is killed, and acknowledges each save on standard output
/// by the pair's number. `SealedStoreTests` starts it.
///
/// Usage: journal-writer STORE FIRST
@main
enum JournalWriter {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let first = Int64(arguments[2]) else {
            FileHandle.standardError.write(Data("usage: journal-writer STORE FIRST\n".utf8))
            exit(2)
        }
        let context = try Journal.open(URL(filePath: arguments[1]))
        var number = first
        while true {
            try Journal.writePair(number, in: context)
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
            number += 1
        }
    }
}

/// The store that the writer writes and its test reads: pairs of entries that refer to each other.
enum Journal {
    static func open(_ url: URL) throws -> ManagedObjectContext {
        SealedStore.register()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Entry",
                attributes: [AttributeDescription("number", .int64), AttributeDescription("text", .string)],
                relationships: [RelationshipDescription("other", to: "Entry", .one, inverse: "other")]
            )
        ])
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType,
                url: url,
                options: [SealedStore.keyOption: EncryptionKey.raw(Array(repeating: 7, count: 32))]
            )
        )
        return ManagedObjectContext(coordinator: coordinator)
    }

    static func writePair(_ number: Int64, in context: ManagedObjectContext) throws {
        let entity = context.model.entities[0]
        let left = ManagedObject(entity: entity, insertInto: context)
        let right = ManagedObject(entity: entity, insertInto: context)
        for entry in [left, right] {
            entry["number"] = .integer(number)
            entry["text"] = .text(String(repeating: "entry \(number) ", count: Int(number % 200) + 1))
        }
        left.setDestination(right, forRelationship: "other")
        try context.save()
    }
}
