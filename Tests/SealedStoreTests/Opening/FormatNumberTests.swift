import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// The number of a file's format, by which older programs refuse a file that they cannot read.
@Suite struct FormatNumberTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("number.store") }

    private static func model(_ type: AttributeType) -> [EntityDescription] {
        [EntityDescription("Sample", attributes: [.init("value", type, isOptional: true)])]
    }

    private func open(_ newestUserVersion: Int) throws -> Database {
        let options = Database.Options(
            applicationID: StoreFile.applicationID,
            newestUserVersion: Int32(newestUserVersion)
        )
        return try Database(.file(url.path), key: .raw(Array(repeating: 5, count: 32)), options: options)
    }

    /// The numbers in the header of the file, and in its metadata.
    private func numbers() throws -> [Int64] {
        let database = try open(StoreFormat.newest)
        defer { try? database.close() }
        return try database.read { connection in
            try ["PRAGMA user_version", "SELECT CAST(value AS INTEGER) FROM _metadata WHERE key = 'format'"].map {
                sql in
                try connection.integer(sql) ?? 0
            }
        }
    }

    @Test(arguments: AttributeType.allCases)
    func `a new file has the number that its columns need`(_ type: AttributeType) throws {
        try MigratingStore(url, Self.model(type)).close()
        let number = Int64(StoreFormat.number(of: type))
        #expect(try numbers() == [number, number])
    }

    @Test func `a program of the number before refuses a file with durations as newer, not as damaged`() throws {
        try MigratingStore(url, Self.model(.duration)).close()
        #expect(throws: DatabaseError.newerFormat(path: url.path, found: 3, supported: 2)) { try open(2) }
    }

    @Test func `a migration raises the number with a new column, and keeps it without the column`() throws {
        try MigratingStore(url, Self.model(.int64)).close()
        #expect(try numbers() == [1, 1])
        try MigratingStore(url, Self.model(.duration)).close()
        #expect(try numbers() == [3, 3])
        let problems = try MigratingStore.refusal { try MigratingStore(url, Self.model(.string)).close() }
        #expect(problems.isEmpty)
        #expect(try numbers() == [3, 3])
    }

    @Test func `a larger number that appears while the file is open is a newer format`() throws {
        try MigratingStore(url, Self.model(.int64)).close()
        let database = try open(StoreFormat.newest)
        defer { try? database.close() }
        let error = #expect(throws: DatabaseError.self) {
            try database.write { connection in
                try StoreFormat.write(StoreFormat.newest + 1, on: connection)
                _ = try StoreMetadataTable.read(on: connection)
            }
        }
        guard case .newerFormat(_, Int32(StoreFormat.newest + 1), Int32(StoreFormat.newest))? = error else {
            Issue.record("\(error.map { "\($0)" } ?? "no error")")
            return
        }
    }
}
