import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// The lock under which files get the name of a database. No other user can hold it.
@Suite struct NamingLockTests {
    let folder = TemporaryFolder()
    var path: String { folder.filePath("store") }
    private var lock: String { folder.filePath(".store.naming") }

    /// Creates a database, changes its key, and replaces a copy of it.
    private func nameFiles() throws {
        let database = try openSample(path)
        try database.write { try insert(1...3, into: $0) }
        try database.changeKey(to: rawKey(2))
        for replaces in [false, true] { try database.copy(to: folder.filePath("copy"), replacesExisting: replaces) }
        try database.close()
        #expect(try openSample(path, key: rawKey(2)).read { try $0.itemCount() } == 3)
    }

    // Read permission for the folder is enough to lock it.
    @Test(arguments: [LOCK_EX, LOCK_SH])
    func `a lock on the folder does not block`(operation: Int32) throws {
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(descriptor) }
        try #require(flock(descriptor, operation | LOCK_NB) == 0)
        try nameFiles()
        #expect(try folder.names() == ["copy", "store"])
    }

    enum Planted: CaseIterable {
        case leftover, readableFile, link, danglingLink, pipe, folder, hardLink, foreignFile
    }

    @Test(arguments: Planted.allCases)
    func `what has the name of the lock file does not block`(planted: Planted) throws {
        let victim = folder.filePath("victim")
        try Data("content".utf8).write(to: URL(filePath: victim))
        let lock = lock
        switch planted {
        case .leftover: close(open(lock, O_CREAT | O_RDWR, 0o600))
        case .readableFile, .foreignFile: close(open(lock, O_CREAT | O_RDWR, 0o644))
        case .link: symlink(victim, lock)
        case .danglingLink: symlink(folder.filePath("none"), lock)
        case .pipe: mkfifo(lock, 0o600)
        case .folder: mkdir(lock, 0o700)
        case .hardLink: link(victim, lock)
        }
        // Another user, if this process may give files away.
        if planted == .foreignFile, geteuid() == 0 { try #require(chmod(lock, 0o600) == 0 && chown(lock, 1, 1) == 0) }
        let descriptor = open(lock, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(descriptor) }
        if planted != .leftover { _ = flock(descriptor, LOCK_EX | LOCK_NB) }
        try nameFiles()
        // The folder cannot be removed.
        let rest = planted == .folder ? [".store.naming"] : []
        #expect(try folder.names() == rest + ["copy", "store", "victim"])
        #expect(try Data(contentsOf: URL(filePath: victim)) == Data("content".utf8))
    }

    // another process                   | this process                    | lock file
    // makes and locks the file          |                                 | held
    //                                   | throws `busy`                   | held
    // ends                              |                                 | left
    //                                   | locks it, removes it            | none
    @Test func `processes of one user exclude each other`() throws {
        // A child process of another test would keep the lock.
        let descriptor = open(lock, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        #expect(databaseError { try openSample(path) } == .busy)
        close(descriptor)
        try nameFiles()
        #expect(try folder.names() == ["copy", "store"])
    }
}
