import CSQLCipher
@testable import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Databases in read-only folders and file systems. Only a read-only file system is read without a log.
@Suite struct ReadOnlyPlaceTests {
    let folder = TemporaryFolder()
    var path: String { folder.filePath("store") }

    private func setPermissions(_ permissions: Int, _ names: String...) throws {
        for name in names {
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: folder.filePath(name))
        }
    }

    @Test func `a file system without shared memory is reported`() async throws {
        await #expect(processExitsWith: .success) { [path = path as String] in
            // It has no locks either. Apple's systems choose it for some volumes.
            try #require(sqlite3_vfs_register(sqlite3_vfs_find("unix-none"), 1) == SQLITE_OK)
            let error = databaseError { try openSample(path) }
            try #require(error?.description.contains("write-ahead log") == true, "\(String(describing: error))")
        }
    }

    @Test func `a folder that is not writable for the user`() async throws {
        try makeSample(path)
        try setPermissions(0o644, "store")
        try setPermissions(0o555, "")
        await #expect(processExitsWith: .success) { [path = path as String] in
            try becomeOrdinaryUser()
            let error = databaseError { try openSample(path, options: sampleOptions { $0.readOnly = true }) }
            try #require(error == .unwritableFolder(path: path, hasLog: false))
            try #require(error?.recoverySuggestion?.contains("copy the file") == true)
        }
        try setPermissions(0o755, "")
    }

    @Test func `a folder that is not writable for the user, with a log`() async throws {
        let other = TemporaryFolder()
        let writer = try openSample(other.filePath("store"))
        try writer.write { try insert(1...300, into: $0) }
        try Leftover.log.copy(other.filePath("store"), to: path)
        try setPermissions(0o644, "store", "store-wal")
        try setPermissions(0o555, "")
        let before = try folder.contents()
        await #expect(processExitsWith: .success) { [path = path as String] in
            try becomeOrdinaryUser()
            for readOnly in [true, false] {
                let error = databaseError { try openSample(path, options: sampleOptions { $0.readOnly = readOnly }) }
                try #require(
                    error == .unwritableFolder(path: path, hasLog: true)
                        || error == .permissionDenied(path: path) && !readOnly
                )
            }
        }
        #expect(try folder.contents() == before)
        try setPermissions(0o755, "")
    }

    // The link is in a read-only folder, the file in a writable one.
    @Test func `a link in a folder that is not writable for the user`() async throws {
        let writer = try openSample(path)
        try writer.write { try insert(1...300, into: $0) }
        try setPermissions(0o666, "store", "store-wal", "store-shm")
        try setPermissions(0o777, "")
        let links = TemporaryFolder()
        try FileManager.default.createSymbolicLink(atPath: links.filePath("link"), withDestinationPath: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: links.path)
        await #expect(processExitsWith: .success) { [link = links.filePath("link") as String] in
            try becomeOrdinaryUser()
            let database = try openSample(link, options: sampleOptions { $0.readOnly = true })
            try #require(try database.read { try $0.itemCount() } == 300)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: links.path)
    }

    @Test func `the error names a log that is not readable for the user`() async throws {
        try makeSample(path)
        let other = TemporaryFolder()
        let writer = try openSample(other.filePath("store"))
        try writer.write { try insert(1...300, into: $0) }
        try FileManager.default.copyItem(atPath: other.filePath("store-wal"), toPath: path + "-wal")
        try setPermissions(0o666, "store")
        try setPermissions(0o000, "store-wal")
        try setPermissions(0o777, "")
        await #expect(processExitsWith: .success) { [path = path as String] in
            guard geteuid() == 0 else { return }
            try becomeOrdinaryUser()
            try #require(databaseError { try openSample(path) } == .permissionDenied(path: path + "-wal"))
        }
    }

    @Test(.enabled(if: Mounts.areAllowed)) func `a read-only medium is read without its log if it has none`()
        async throws
    {
        await #expect(processExitsWith: .success) { [folder = folder.path as String] in
            try Mounts.mountMemory(on: folder)
            try makeSample(folder + "/store")
            try Mounts.makeReadOnly(folder)
            let options = sampleOptions { $0.readOnly = true }
            let database = try openSample(folder + "/store", options: options)
            try #require(try database.read { try $0.itemCount() } == 3)
            try database.close()
            try #require(
                databaseError { try openSample(folder + "/store") } == .permissionDenied(path: folder + "/store")
            )
        }
    }

    @Test(.enabled(if: Mounts.areAllowed), arguments: ["-wal", "-journal"])
    func `a read-only medium with a log or journal`(_ suffix: String) async throws {
        await #expect(processExitsWith: .success) { [folder = folder.path as String, suffix = suffix as String] in
            try Mounts.mountMemory(on: folder)
            let path = folder + "/store"
            let options = sampleOptions { $0.readOnly = true }
            if suffix == "-wal" {
                let other = TemporaryFolder()
                let writer = try openSample(other.filePath("store"))
                try writer.write { try insert(1...300, into: $0) }
                try Leftover.log.copy(other.filePath("store"), to: path)
                try Mounts.makeReadOnly(folder)
                let error = databaseError { try openSample(path, options: options) }
                try #require(error == .unwritableFolder(path: path, hasLog: true))
            } else {
                try makeInterruptedDatabase(path, passphrase: "secret")
                try Mounts.makeReadOnly(folder)
                let error = databaseError { try openSample(path, key: .passphrase("secret"), options: options) }
                try #require(error?.description.contains("rolled back") == true)
            }
        }
    }

    @Test(.enabled(if: Mounts.areAllowed))
    func `a read-only mount of a file system that is writable elsewhere`() async throws {
        await #expect(processExitsWith: .success) { [folder = folder.path as String] in
            try Mounts.mountMemory(on: folder)
            for name in ["/data", "/view"] {
                try FileManager.default.createDirectory(atPath: folder + name, withIntermediateDirectories: false)
            }
            try makeSample(folder + "/data/store")
            try Mounts.show(folder + "/data", readOnlyAt: folder + "/view")
            let path = folder + "/view/store"
            let error = databaseError { try openSample(path, options: sampleOptions { $0.readOnly = true }) }
            try #require(error == .unwritableFolder(path: path, hasLog: false))
        }
    }

    #if os(Linux)
        @Test func `the options of the file system apply, not those of a mount`() {
            let mounts = """
                24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
                25 24 8:1 /srv /mnt/view ro,relatime - ext4 /dev/sda1 rw,errors=remount-ro
                26 24 7:0 / /snap ro,nodev,relatime shared:5 - squashfs /dev/loop0 ro,errors=continue
                27 24 0:40 / /net ro,relatime - nfs4 server:/export ro,vers=4.2
                28 24 8:2
                """
            #expect(!ReadOnlyMedium.isReadOnly(device: "8:1", in: mounts))
            #expect(ReadOnlyMedium.isReadOnly(device: "7:0", in: mounts))
            #expect(!ReadOnlyMedium.isReadOnly(device: "0:40", in: mounts))
            #expect(!ReadOnlyMedium.isReadOnly(device: "8:2", in: mounts))
        }
    #endif
}
