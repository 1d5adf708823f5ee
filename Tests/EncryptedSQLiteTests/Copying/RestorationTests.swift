import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// A backup takes the place of a database with all files beside it.
@Suite struct RestorationTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.filePath("store") }
    private var backup: String { folder.filePath("backup") }

    private static func key(_ byte: UInt8) throws -> EncryptionKey { try .raw(repeatElement(byte, count: 32)) }

    /// Puts a database with 60 changed items, as a killed process leaves it, and a backup of 30 items.
    private func prepare(_ leftover: Leftover, key: EncryptionKey, backupKey: EncryptionKey? = nil) throws {
        let originals = TemporaryFolder()
        let database = try openSample(originals.filePath("store"), key: key)
        try database.write { try insert(1...30, into: $0) }
        try database.copy(to: backup, key: backupKey)
        try database.write { try insert(31...60, into: $0) }
        try database.writeWithoutTransaction { try $0.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        try database.write { try $0.execute("UPDATE item SET name = upper(name)") }
        try leftover.copy(originals.filePath("store"), to: path)
        try database.close()
    }

    private func restore(key: EncryptionKey) throws {
        try Database.restore(backup, key: key, to: path, options: sampleOptions())
    }

    /// The number of items of the backup in the database, which has to be sound.
    private func count(_ key: EncryptionKey) throws -> Int64? {
        let database = try openSample(path, key: key, options: sampleOptions { $0.createsIfMissing = false })
        defer { try? database.close() }
        #expect(try database.read { try $0.string("PRAGMA integrity_check") } == "ok")
        return try database.read { try $0.integer("SELECT count(*) FROM item WHERE name = lower(name)") }
    }

    /// With a key that names the salt, nothing distinguishes the old log from one of the backup.
    @Test(arguments: Leftover.allCases, [false, true])
    func `a restored backup meets no file of the old database`(leftover: Leftover, namesSalt: Bool) throws {
        let salt: [UInt8]? = namesSalt ? (0..<16).map { $0 } : nil
        let key = try EncryptionKey.raw(repeatElement(1, count: 32), salt: salt)
        try prepare(leftover, key: key)
        let copy = try Data(contentsOf: folder.file("backup"))
        chmod(path, 0o640)
        try restore(key: key)
        #expect(try folder.names() == ["backup", "store"])
        #expect(try count(key) == 30)
        #expect(try Data(contentsOf: folder.file("backup")) == copy)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
    }

    @Test func `a journal that would be rolled back is removed`() throws {
        try makeInterruptedDatabase(path, passphrase: "secret")
        try makeSample(backup, key: .passphrase("secret"), rows: 30)
        try restore(key: .passphrase("secret"))
        #expect(try folder.names() == ["backup", "store"])
        #expect(try count(.passphrase("secret")) == 30)
    }

    @Test func `a backup is restored where no database is, and with its own log`() throws {
        let database = try openSample(folder.filePath("other"))
        try database.write { try insert(1...30, into: $0) }
        try Leftover.log.copy(folder.filePath("other"), to: backup)
        try restore(key: rawKey())
        #expect(try count(rawKey()) == 30)
    }

    @Test func `a planted journal beside the database is removed`() throws {
        try makeSample(path, rows: 20)
        try makeSample(backup, rows: 30)
        let victim = folder.file("victim")
        try Data("precious".utf8).write(to: victim)
        let pageCount = try Data(contentsOf: folder.file("store")).count / 4096
        try HotJournal.naming(victim.path, pageCount: pageCount, pageByteCount: 4096)
            .write(to: folder.file("store-journal"))
        try restore(key: rawKey())
        #expect(try folder.names() == ["backup", "store", "victim"])
        #expect(try count(rawKey()) == 30)
    }

    @Test func `the copy of an earlier log is removed`() throws {
        try makeSample(path, rows: 20)
        try makeSample(backup, rows: 30)
        try Data("log".utf8).write(to: folder.file("store-wal.lost"))
        try restore(key: rawKey())
        #expect(try folder.names() == ["backup", "store"])
        try Data("log".utf8).write(to: folder.file("store-wal.lost"))
        let database = try openSample(path)
        try database.changeKey(to: rawKey(2))
        try database.close()
        #expect(try !folder.names().contains("store-wal.lost"))
    }

    // A link, a file, or a folder of another user has the name of the folder.
    @Test(arguments: ["link", "file", "folder"]) func `what another user puts under the folder's name is not used`(
        planted: String
    ) throws {
        try makeSample(path, rows: 20)
        let target = folder.file("target")
        let name = folder.filePath(".store.restoring")
        let place = planted == "folder" ? URL(filePath: name) : target
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        for file in ["new", "-wal", "-journal"] {
            try Data("precious".utf8).write(to: place.appending(path: file))
        }
        switch planted {
        case "link": try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: target.path)
        case "file": try Data().write(to: URL(filePath: name))
        default:
            guard geteuid() == 0 else { return }
            try #require(chown(name, 1, 1) == 0)
        }
        let before = try folder.names()
        for readOnly in [false, true] {
            let error = databaseError { try openSample(path, options: sampleOptions { $0.readOnly = readOnly }) }
            #expect(error?.description.contains(name) == true, "\(String(describing: error))")
        }
        #expect(throws: DatabaseError.self) { try DamagedFile(path: path, key: rawKey()) }
        try makeSample(backup, rows: 30)
        #expect(throws: DatabaseError.self) { try restore(key: rawKey()) }
        try FileManager.default.removeItem(at: folder.file("backup"))
        #expect(try folder.names() == before)
        for file in ["new", "-wal", "-journal"] {
            #expect(try Data(contentsOf: place.appending(path: file)) == Data("precious".utf8))
        }
    }

    // restoring process            | another version of the package
    // moves the log into a folder  |
    // is killed                    |
    //                              | opens the file without its log, saves, closes it
    @Test func `a log is not put back beside a file that was changed since`() throws {
        let key = try Self.key(1)
        try prepare(.log, key: key)
        let restoring = folder.file(".store.restoring")
        try FileManager.default.createDirectory(at: restoring, withIntermediateDirectories: false)
        try FileManager.default.moveItem(at: folder.file("store-wal"), to: restoring.appending(path: "-wal"))
        try FileManager.default.copyItem(at: folder.file("backup"), to: restoring.appending(path: "new"))
        for name in ["store-shm"] { try? FileManager.default.removeItem(at: folder.file(name)) }
        let aside = folder.file("aside")
        try FileManager.default.moveItem(at: restoring, to: aside)
        let other = try openSample(path, key: key)
        try other.write { try insert(101...130, into: $0) }
        try other.close()
        try FileManager.default.moveItem(at: aside, to: restoring)
        let before = try folder.names()
        let error = databaseError { try openSample(path, key: key) }
        #expect(error?.description.contains(restoring.path) == true, "\(String(describing: error))")
        #expect(try folder.names() == before && FileManager.default.fileExists(atPath: restoring.path + "/-wal"))
        try FileManager.default.moveItem(at: restoring, to: aside)
        #expect(try count(key) == 90)
    }

    @Test func `a database that is open is not replaced`() throws {
        try makeSample(backup, rows: 30)
        let database = try openSample(path)
        try database.write { try insert(1...5, into: $0) }
        #expect(databaseError { try restore(key: rawKey()) } == .busy)
        #expect(try database.read { try $0.itemCount() } == 5)
        database.suspend()
        try restore(key: rawKey())
        try database.resume()
        #expect(try database.read { try $0.itemCount() } == 30)
    }

    @Test func `a backup that is no sound database of the key is refused, and the database stays`() throws {
        let key = try Self.key(1)
        try prepare(.log, key: key)
        let before = try folder.contents()
        #expect(databaseError { try restore(key: rawKey()) } == .wrongKey(path: backup))
        try patch(backup, at: 4096 + 900) { $0 ^ 1 }
        #expect(databaseError { try restore(key: key) } == .damaged(path: backup))
        #expect(databaseError { try Database.restore(path, key: key, to: path, options: sampleOptions()) } != nil)
        var after = try folder.contents()
        after["backup"] = before["backup"]
        #expect(after == before)
        let database = try openSample(path, key: key)
        #expect(try database.read { try $0.integer("SELECT count(*) FROM item WHERE name = upper(name)") } == 60)
    }

    #if os(Linux)
        // writing process                  | after each change to the files: killed
        // restores the backup              |   the old key opens the old file with its log, or the new key the new file
        @Test(
            .enabled(if: HiddenSecret.isSearchable, "a sanitizer defines the functions that record"),
            arguments: [Leftover.log, .nothing]
        )
        func `a process that is killed while it restores leaves the old database or the new one`(_ leftover: Leftover)
            throws
        {
            var outcomes: [Bool: Int] = [:]
            for change in 1... {
                for name in try folder.names() { try FileManager.default.removeItem(atPath: folder.filePath(name)) }
                try prepare(leftover, key: Self.key(1), backupKey: Self.key(2))
                let process = try RecordedProcess(.restore, in: folder.url, killedAfter: change)
                let isRestored: Bool
                do {
                    let old = try openSample(path, key: Self.key(1), options: sampleOptions { $0.readOnly = true })
                    let condition = leftover.hasLog ? "upper" : "lower"
                    let sql = "SELECT count(*) FROM item WHERE name = \(condition)(name)"
                    #expect(try old.read { try $0.integer(sql) } == 60, "change \(change)")
                    isRestored = false
                } catch DatabaseError.wrongKey {
                    #expect(try count(Self.key(2)) == 30, "change \(change)")
                    isRestored = true
                }
                if process.notes.contains("restored") { #expect(isRestored) }
                outcomes[isRestored, default: 0] += 1
                if !isRestored { try openSample(path, key: Self.key(1)).close() }
                let names = try folder.names().filter { !$0.hasPrefix("backup-") }
                #expect(names == ["backup", "store"], "change \(change)")
                guard process.wasKilled else {
                    #expect(process.result.status == 0, "\(process.result)")
                    break
                }
            }
            #expect(outcomes[false, default: 0] > 10 && outcomes[true, default: 0] > 1, "\(outcomes)")
        }
    #endif
}
