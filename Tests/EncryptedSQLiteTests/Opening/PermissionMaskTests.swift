import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Files under a mask of permissions that removes all of them; each test in a process with such a mask.
@Suite struct PermissionMaskTests {
    @Test func `the owner can open its files and folders`() async throws {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            chmod(folder.path, 0o777)
            try becomeOrdinaryUser()
            umask(0o777)
            func permissions(_ name: String) throws -> Int? {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder.filePath(name))
                return attributes[.posixPermissions] as? Int
            }
            try OwnerOnly.createFolders(at: folder.file("outer/inner"))
            try #require(try permissions("outer/inner") == 0o700)
            let path = folder.filePath("outer/inner/store")
            let database = try openSample(path)
            try database.write { try insert(1...300, into: $0) }
            for suffix in ["", "-wal", "-shm"] {
                try #require(try permissions("outer/inner/store" + suffix) == 0o600)
            }
            // Temporary files, a lock, a second process's view of the files.
            try database.write(isBulk: true) { try $0.execute("CREATE INDEX item_name ON item (name)") }
            try database.changeKey(to: rawKey(2))
            try database.copy(to: folder.filePath("copy"), form: .compact)
            try database.close()
            let plaintext = try PlaintextFile(at: folder.file("plaintext"))
            try #require(write(plaintext.descriptor, "content", 7) == 7)
            try plaintext.complete()
            let file = try NewFile(at: folder.file("new"))
            try openSample(file.temporaryPath).close()
            try file.complete()
            let (copy, new) = (folder.filePath("copy"), folder.filePath("new"))
            try Database.restore(copy, key: rawKey(2), to: new, options: sampleOptions())
            let tables = try NewFolder(at: folder.file("tables"))
            try #require(write(try tables.addFile("table"), "content", 7) == 7)
            try tables.complete()
            for (name, expected) in [("copy", 0o600), ("plaintext", 0o600), ("tables", 0o700), ("tables/table", 0o600)]
            {
                try #require(try permissions(name) == expected)
            }
            try #require(try openSample(path, key: rawKey(2)).read { try $0.itemCount() } == 300)
            try #require(try openSample(folder.filePath("copy"), key: rawKey(2)).read { try $0.itemCount() } == 300)
        }
    }
}
