import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Histories of stores that are opened for reading only with a later model than that of the file.
@Suite struct OtherModelHistoryTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }
    private let options: [String: any Sendable] = [
        SealedStore.historyOption: HistoryOptions(recordsValues: true, identifiesObjects: true)
    ]

    private static let first = [
        EntityDescription("Trip", attributes: [.init("name", .string), .init("days", .int64, isOptional: true)]),
        EntityDescription("Stop", attributes: [.init("title", .string)]),
    ]

    private static let second = [
        EntityDescription("Event", isAbstract: true),
        EntityDescription(
            "Journey",
            superentity: "Event",
            attributes: [.init("title", .string, renamingIdentifier: "name")],
            renamingIdentifier: "Trip"
        ),
    ]

    /// Writes two transactions, and returns the global identifier of the trip.
    private func write() throws -> UUID {
        let store = try MigratingStore(url, Self.first, options: options)
        let trip = store.insert("Trip", ["name": .text("a"), "days": .integer(3)])
        store.insert("Stop", ["title": .text("b")])
        try store.context.save()
        trip["name"] = .text("c")
        trip["days"] = .integer(4)
        try store.context.save()
        let identifier = try #require(try store.store().globalIdentifier(of: trip.managedObjectID))
        try store.close()
        return identifier
    }

    private func changes(_ store: MigratingStore) throws -> [String] {
        try store.coordinator.history().flatMap(\.changes).map { change in
            let values = change.values.new.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text)" }
            let place = "\(change.objectID.entity.name) \(change.objectID.key)"
            return "\(change.kind) \(place): \(values.joined(separator: ", "))"
        }
    }

    @Test func `changes have the names of the program's model, as after a migration`() throws {
        _ = try write()
        let reader = try MigratingStore(url, Self.second, isReadOnly: true)
        let read = try changes(reader)
        try reader.close()
        let migrated = try MigratingStore(url, Self.second)
        #expect(try changes(migrated) == read)
        #expect(read == ["insert Journey 1: title='a'", "update Journey 1: title='c'"])
    }

    @Test func `objects are found by their global identifiers`() throws {
        let identifier = try write()
        let reader = try MigratingStore(url, Self.second, isReadOnly: true)
        let journey = try #require(try reader.objects("Journey").first)
        #expect(try reader.store().globalIdentifier(of: journey.managedObjectID) == identifier)
        #expect(try reader.store().objectID(forGlobalIdentifier: identifier) == journey.managedObjectID)
    }
}
