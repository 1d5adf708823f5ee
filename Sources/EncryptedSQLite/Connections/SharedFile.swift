import CSQLCipher
import Foundation
import Guarded
import Synchronization

/// A database file, as all connections of this process to it know it: the files beside it that they have open, and
/// whether its content proved damaged.
///
/// SQLite opens the log and its index by their names when a connection reads the database for the first time, and never
/// looks at the names again. If one of these files is removed while it is open, commits go to a file without a name,
/// and are lost with the last connection. If another process then makes a new index, two groups of connections write to
/// one log without knowledge of each other, and destroy it. Therefore the identities of both files are recorded when
/// the first connection has opened them, and compared before each commit:
///
///     this process                    another program                 log and index at the path
///     opens, records both             –                               1, 1
///     commits                         –                               1, 1
///     –                               removes the index               1, –
///     –                               opens the database, commits     1, 2
///     would commit: throws `moved`    –                               1, 2
///     closes, writes nothing back     –                               1, 2
///
/// All connections of a process use the same index, and no log is removed while any connection to the file is open. So
/// the identities that the first connection records hold for all connections, until the last one is closed.
final class SharedFile: Sendable {
    private struct Key: Hashable {
        let identity: FileIdentity
        let path: String
    }

    private struct State {
        var connectionCount = 0
        /// The files that the connections have open; nil if no connection uses a log.
        var companions: Companions? { didSet { unmovedIn = nil } }
        /// The first page of the file; nil before a connection has read it.
        var firstPage: FirstPage?
        /// The state of the folder in which the names last led to these files and the database; nil if another change
        /// of the folder could have the same time.
        var unmovedIn: FolderState?
    }

    private struct Companions: Equatable {
        let log: FileIdentity
        let index: FileIdentity
    }

    private static let known = SharedObjects<Key, SharedFile>()

    let files: DatabaseFiles
    private let key: Key
    private let name: [CChar]
    private let logName: [CChar]
    private let indexName: [CChar]
    private let folderName: [CChar]
    private let state = Guarded(State())
    /// The number of times that damage was found; 0 for a sound file.
    private let damage = Atomic<Int>(0)

    /// The file with an identity at a path. Connections to it keep the object.
    static func at(_ files: DatabaseFiles, _ identity: FileIdentity) -> SharedFile {
        let key = Key(identity: identity, path: files.path)
        return known.object(for: key) { SharedFile(files, key) }
    }

    private init(_ files: DatabaseFiles, _ key: Key) {
        self.files = files
        self.key = key
        name = Array(files.path.utf8CString)
        logName = Array(files.log.utf8CString)
        indexName = Array(files.sharedMemory.utf8CString)
        folderName = Array(files.folder.utf8CString)
    }

    deinit {
        Self.known.remove(ObjectIdentifier(self), key: key)
    }

    var identity: FileIdentity { key.identity }

    // MARK: Damage

    /// Whether the content proved damaged on any connection. SQLite would write damaged pages in the log into the file,
    /// remove the log, and with it what a salvage could recover. Therefore no connection writes to the file any more.
    var isDamaged: Bool { findingCount > 0 }

    /// The number of times that damage was found since the file was sound.
    var findingCount: Int { damage.load(ordering: .relaxed) }

    func noteDamage() { damage.wrappingAdd(1, ordering: .relaxed) }

    /// Records that all pages verified after damage had been found `findings` times: an index contradicted its table,
    /// or a read failed. Damage that was found since then counts.
    func noteVerifiedPages(after findings: Int) {
        _ = damage.compareExchange(expected: findings, desired: 0, ordering: .relaxed)
    }

    // MARK: Connections

    /// Registers a connection that has read the database, until ``leave()`` is called.
    ///
    /// - Parameters:
    ///   - usesLog: Whether the connection has a log, to which it may write.
    ///   - isExamined: Whether the file was opened and checked anew. If no other connection has it open, it may have been
    ///     restored, and earlier damage no longer counts.
    /// - Throws: `moved` if the log or its index at the path are not the files that the other connections have open.
    func join(usesLog: Bool, isExamined: Bool) throws(DatabaseError) {
        let (log, index) = (FileIdentity(name: logName), FileIdentity(name: indexName))
        let moved = state.withLock { state -> String? in
            if usesLog {
                guard let log, state.companions.map({ $0.log == log }) ?? true else { return files.log }
                guard let index, state.companions.map({ $0.index == index }) ?? true else { return files.sharedMemory }
                let companions = Companions(log: log, index: index)
                if state.companions != companions { state.companions = companions }
            }
            if isExamined, state.connectionCount == 0 { damage.store(0, ordering: .relaxed) }
            state.connectionCount += 1
            return nil
        }
        if let moved { throw .moved(path: moved) }
    }

    /// Removes a connection that is about to be closed.
    func leave() {
        state.withLock { state in
            state.connectionCount -= 1
            guard state.connectionCount == 0 else { return }
            state.companions = nil
            state.firstPage = nil
        }
    }

    /// Compares the first page of the file with the first page that the connections have read before.
    ///
    /// - Parameter records: Whether the page replaces the recorded page, so that later pages are compared with it.
    func isOverwritten(accordingTo page: FirstPage, records: Bool) -> Bool {
        state.withLock { state in
            let isOverwritten = state.firstPage.map { page.contradicts($0) } ?? false
            if records, !isOverwritten, state.firstPage == nil || page.isSettled { state.firstPage = page }
            return isOverwritten
        }
    }

    /// Whether the recorded first page was read while the log of `checkpoint` was in use.
    func knowsLog(of checkpoint: FirstPage.Checkpoint) -> Bool {
        state.withLock { $0.firstPage?.checkpoint?.salts == checkpoint.salts }
    }

    /// Records the first page.
    func record(_ page: FirstPage) {
        state.withLock { $0.firstPage = page }
    }

    // MARK: Names

    /// The path of the first file whose name does not lead to the open file any more; nil if all do.
    ///
    /// Costs one system call (1.1 µs of the 35 µs of a small commit on Linux) while no name in the folder changes:
    /// removing, renaming and linking a file change the times of its folder. After such a change it costs three more. A
    /// file system that is mounted over one of the files is not noticed. Comparing descriptors would cost less, but
    /// SQLite does not expose its descriptors, and a renamed file keeps its descriptor.
    var movedFile: String? {
        let folder = FolderState(name: folderName)
        let (companions, unmovedIn) = state.withLock { ($0.companions, $0.unmovedIn) }
        if let folder, folder == unmovedIn { return nil }
        if let moved = movedFile(companions) { return moved }
        guard let folder, folder.isSettled else { return nil }
        state.withLock { if $0.companions == companions { $0.unmovedIn = folder } }
        return nil
    }

    /// The path of the first file whose name does not lead to the open file, found by a lookup of each name.
    private func movedFile(_ companions: Companions?) -> String? {
        guard FileIdentity(name: name) == identity else { return files.namedPath }
        guard let companions else { return nil }
        if FileIdentity(name: logName) != companions.log { return files.log }
        if FileIdentity(name: indexName) != companions.index { return files.sharedMemory }
        return nil
    }

    /// Whether the log has no content, so that nothing would be written back.
    var hasEmptyLog: Bool { DatabaseFiles.byteCount(of: files.log) == 0 }

    /// Whether SQLite may write the log back when the last connection is closed.
    ///
    /// An index of another process at the path, or a log with content, shows that other processes may have written to
    /// the file without knowledge of this process. Otherwise no other process has, and the log of this process, which
    /// disappears with the connection, has the last commits. A symbolic link in place of the file leads other processes
    /// to the file under another name, with another log.
    var mayWriteLogBackOnClose: Bool {
        guard !isDamaged || hasEmptyLog else { return false }
        if let status = DatabaseFiles.status(of: files.path), status.st_mode & S_IFMT == S_IFLNK { return false }
        guard let companions = state.withLock({ $0.companions }) else { return true }
        if let index = FileIdentity(name: indexName), index != companions.index { return false }
        guard let log = DatabaseFiles.status(of: files.log), FileIdentity(log) != companions.log else { return true }
        return log.st_mode & S_IFMT == S_IFREG && log.st_size == 0
    }
}

extension Connection {
    /// Registers a connection that has read the database, beside the other connections of this process.
    func join(_ file: SharedFile, mayWrite: Bool, isExamined: Bool = false) throws(DatabaseError) {
        try file.join(usesLog: mayWrite && hasLog, isExamined: isExamined)
        sharedFile = file
        hasJoined = true
        // The first connection records the page.
        if isOverwritten { throw .moved(path: path) }
    }

    /// Throws `damaged` if the content proved damaged on any connection of this process: nothing may be written. Throws
    /// `moved` if that explains the damage.
    func requireSoundFile() throws(DatabaseError) {
        guard isDamaged || sharedFile?.isDamaged ?? false else { return }
        try requireUnmovedFile()
        throw .damaged(path: path)
    }

    /// Throws `moved` if the name of the database file, its log or the index of the log does not lead to the open file
    /// any more: it was deleted or moved, or another file took its place, or overwrote it.
    func requireUnmovedFile() throws(DatabaseError) {
        if let moved = sharedFile?.movedFile { throw .moved(path: moved) }
        if isOverwritten { throw .moved(path: path) }
    }

    /// Whether the content proved damaged on this connection, or another program has overwritten it.
    var isDamaged: Bool {
        switch defect {
        case .damaged, .moved: true
        default: false
        }
    }

    /// Records that the content proved damaged, and returns the error: `moved` if another program has overwritten the
    /// file. A connection that is being opened may have opened another file, and is closed in any case.
    @discardableResult
    func noteDamage() -> DatabaseError {
        let error: DatabaseError = isOverwritten ? .moved(path: path) : .damaged(path: path)
        defect = error
        if hasJoined, case .damaged = error { sharedFile?.noteDamage() }
        return error
    }
}
