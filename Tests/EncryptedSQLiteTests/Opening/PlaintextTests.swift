import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// No plaintext reaches the disk.
@Suite struct PlaintextTests {
    let folder = TemporaryFolder()
    let marker = "MARKER-" + UUID().uuidString

    @Test func `no file holds a stored text, open or closed`() throws {
        let database = try openSample(folder.filePath("store"))
        try database.write { connection in
            try connection.withStatement("INSERT INTO item (name) VALUES (?)") { statement in
                for _ in 0..<2000 {
                    try statement.bind(text: marker, at: 1)
                    try statement.run()
                }
            }
        }
        #expect(try folder.contents()["store-wal"]?.isEmpty == false)
        try expectNoMarker()
        try database.close()
        try expectNoMarker()
    }

    private func expectNoMarker() throws {
        for (name, content) in try folder.contents() {
            #expect(content.range(of: Data(marker.utf8)) == nil, "\(name)")
            #expect(!content.starts(with: Data("SQLite format 3".utf8)), "\(name)")
        }
    }

    @Test func `errors contain neither values nor literals of statements`() throws {
        let database = try openSample(folder.filePath("store"))
        let statements = [
            "SELECT '\(marker)",
            "SELECT \"\(marker)\"",
            "INSERT INTO item VALUES (1, 2, '\(marker)') x '\(marker)'",
            "SELECT json('\(marker)')",
            "SELECT json_extract('{}', '\(marker)')",
        ]
        for sql in statements {
            let error = databaseError { try database.write { try $0.execute(sql) } }
            let texts = ["\(try #require(error))", error?.localizedDescription ?? "", String(reflecting: error)]
            for text in texts { #expect(!text.contains(marker), "\(text)") }
        }
    }
}
