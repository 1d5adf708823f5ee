import EncryptedSQLite
package import Foundation
package import ObjectGraph
import SealedStore

/// A store of pairs of entries that refer to each other, written by a process and read by its test.
package enum Journal {
    /// The bytes of the two keys between which a store changes.
    package static let keys: [UInt8] = [7, 8]

    /// The number of attempts to open a store after which it is regarded as unreadable.
    private static let maximumAttempts = 10_000

    /// Opens the store with the key of ``keys`` that is in force, whatever other processes do with the file meanwhile.
    package static func openWithEitherKey(_ url: URL) throws -> (context: ManagedObjectContext, key: UInt8) {
        var attempts = 0
        while true {
            for key in keys {
                do {
                    return (try open(url, key: key), key)
                } catch DatabaseError.wrongKey, DatabaseError.moved, DatabaseError.busy, DatabaseError.cannotOpen {
                    // Neither key opens a file that is being replaced.
                    attempts += 1
                    if attempts > maximumAttempts { throw DatabaseError.wrongKey(path: url.path) }
                    sched_yield()
                }
            }
        }
    }

    /// Changes the key of the store forth and back, until the process is killed.
    package static func changeKeys(_ url: URL, acknowledge: (String) -> Void) throws {
        let (context, first) = try openWithEitherKey(url)
        var key = first
        while true {
            key = keys[0] + keys[1] - key
            do {
                for store in context.coordinator.sealedStores {
                    try store.changeKey(to: .raw(Array(repeating: key, count: 32)))
                }
                acknowledge("\(key)\n")
            } catch DatabaseError.busy {
                key = keys[0] + keys[1] - key
            }
        }
    }

    /// Saves pairs until the process is killed, and opens the store again when another process has replaced its file.
    package static func writePairsThroughChanges(_ url: URL, from first: Int64, acknowledge: (String) -> Void) throws {
        var number = first
        var context = try openWithEitherKey(url).context
        while true {
            do {
                try writePair(number, in: context)
                acknowledge("\(number)\n")
                number += 1
            } catch DatabaseError.moved, DatabaseError.busy, DatabaseError.cannotOpen {
                context.rollback()
                try context.coordinator.removeAllStores()
                context = try openWithEitherKey(url).context
            }
        }
    }

    package static func open(_ url: URL, key: UInt8 = 7) throws -> ManagedObjectContext {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Entry",
                attributes: [AttributeDescription("number", .int64), AttributeDescription("text", .string)],
                relationships: [RelationshipDescription("other", to: "Entry", .one, inverse: "other")]
            )
        ])
        return ManagedObjectContext(coordinator: try openCoordinator(url, model: model, key: key))
    }

    package static func writePair(_ number: Int64, in context: ManagedObjectContext) throws {
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
