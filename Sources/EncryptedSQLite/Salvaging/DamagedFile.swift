import CSQLCipher
import Foundation

/// A database file of which some pages are damaged, read around these pages without SQLite.
///
/// Only pages that verify are read: no value is a guess. A log of which no page verifies belongs to another file, and
/// is ignored. Where single pages of a log do not verify, their older versions in the file are read. The file and its
/// log are not changed. While the reader exists, other connections cannot write the pages that it reads: it has the
/// file locked exclusively or, if other connections use the file, is inside a read transaction.
package final class DamagedFile {
    /// A range of row IDs whose page is damaged.
    package struct LostRange: Hashable, Sendable {
        /// The largest row ID before the range.
        package let after: Int64
        /// The largest row ID of the range.
        package let through: Int64

        package init(after: Int64, through: Int64) {
            self.after = after
            self.through = through
        }

        /// All row IDs.
        package static let all = LostRange(after: .min, through: .max)
    }

    /// The parts of a B-tree that could not be read.
    package struct Losses: Sendable {
        /// The ranges of row IDs on pages that are damaged, or behind such pages; of a table only.
        package var ranges: [LostRange] = []
        /// The number of damaged pages in the tree, without overflow pages.
        package var pageCount = 0
        /// The number of damaged leaves.
        package var leafCount = 0
        /// The number of leaves that were read, and of rows on them.
        package var readLeafCount = 0
        package var readRowCount = 0
        /// The number of rows of which not even the types of the values could be read.
        package var unreadableRowCount = 0

        package init() {}

        /// Whether all pages of the tree, and the types of the values of all rows, were read.
        package var areNone: Bool { pageCount == 0 && unreadableRowCount == 0 }
    }

    /// An object of the schema.
    package struct SchemaObject: Sendable {
        package let type: String
        package let name: String
        package let table: String
        package let rootPage: Int
        package let statement: String
    }

    private let pages: PageReader
    private let lock: FileHold
    private var visited: [Bool]
    /// The numbers of the pages whose newest version does not verify, as far as they were read.
    package private(set) var damagedPages: Set<Int> = []

    /// Opens a file.
    ///
    /// - Throws: `wrongKey` if no page verifies with the key; `notADatabase` for a file without a page; `fileNotFound`;
    ///   `damaged` if nearly all of the file or its log is a hole.
    package init(path: String, key: EncryptionKey) throws(DatabaseError) {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        let files = try DatabaseFiles(at: path)
        try InterruptedRestoration.finish(files, Database.Options())
        try files.checkCompanions()
        guard try files.exist() else { throw .fileNotFound(path: files.namedPath) }
        try files.requireSingleName(timeoutMilliseconds: 0)
        // Holes take no space on the disk, but time to read and memory for each page.
        try files.checkContentLength()
        try files.checkLogLength()
        (lock, pages) = try Self.open(files, key)
        visited = Array(repeating: false, count: pages.pageCount + 1)
    }

    private static let maximumAttempts = 10

    /// Locks a file and reads its log. Begins again if another process has replaced the file before it was locked.
    private static func open(_ files: DatabaseFiles, _ key: EncryptionKey) throws(DatabaseError) -> (
        FileHold, PageReader
    ) {
        var attempts = 0
        while true {
            attempts += 1
            let identity = FileIdentity(path: files.path)
            do throws(DatabaseError) {
                let lock = try FileHold(files, key: key)
                let pages = try PageReader(files, of: lock.connection, key: key)
                guard FileIdentity(path: files.path) == identity else { throw .moved(path: files.namedPath) }
                return (lock, pages)
            } catch {
                // If another file is at the path, it explains any error.
                let isReplaced = FileIdentity(path: files.path).map { $0 != identity } ?? false
                guard isReplaced, attempts < maximumAttempts else { throw error }
            }
        }
    }

    /// The number of pages.
    package var pageCount: Int { pages.pageCount }
    /// The number of pages that the database had behind these pages.
    package var missingPageCount: Int { pages.missingPageCount }
    /// The number of pages that were read.
    package private(set) var readPageCount = 0
    /// The number of committed transactions behind a damaged part of the log, which are lost.
    package var lostCommitCount: Int { pages.log.lostCommitCount }
    /// Whether the log may have had transactions that are lost.
    package var mayHaveLostCommits: Bool { pages.log.mayHaveLostCommits }
    /// Whether the log is ignored because none of its pages verifies.
    package var ignoresLog: Bool { pages.log.isIgnored }
    /// The number of pages that were read from the file because their version in the log does not verify.
    package var outdatedPageCount: Int { pages.outdatedPages.count }

    /// The content of a page, whose number is recorded unless its newest version verifies.
    private func read(_ number: Int) -> [UInt8]? {
        let page = pages.page(number)
        let isDamaged = page == nil || pages.outdatedPages.contains(number)
        if isDamaged, number >= 1, number <= pages.pageCount { damagedPages.insert(number) }
        return page
    }

    /// Verifies every page.
    ///
    /// - Parameter didVerify: Called with the number of verified pages and the number of all pages. An error ends the
    ///   work.
    package func verifyPages(_ didVerify: (Int, Int) throws -> Void) throws -> PageReport {
        var report = PageReport()
        report.pageCount = pages.pageCount
        report.logFrameCount = pages.log.frameCount
        // SQLite does not read behind a damaged header.
        report.lostCommitCount = pages.log.lostCommitCount + (pages.log.hasDamagedHeader ? pages.log.commitCount : 0)
        for number in stride(from: 1, through: pages.pageCount, by: 1) where Int64(number) != PageCipher.lockPage {
            _ = read(number)
            if damagedPages.contains(number) { report.noteDamage(of: number) }
            if number % 64 == 0 { try didVerify(number, pages.pageCount) }
        }
        report.noteMissing(missingPageCount)
        return report
    }

    /// Verifies the pages that were not read, so that ``damagedPages`` has all damaged pages.
    ///
    /// - Parameter didVerify: Called now and then. An error ends the work.
    package func verifyUnreadPages(_ didVerify: () throws -> Void) throws {
        for number in stride(from: 1, to: visited.count, by: 1) where !visited[number] {
            guard Int64(number) != PageCipher.lockPage else { continue }
            _ = read(number)
            readPageCount += 1
            if number % 64 == 0 { try didVerify() }
        }
    }

    // MARK: The schema

    /// The number that the program gave to the file (`PRAGMA application_id`); nil if the first page is damaged.
    package var applicationID: Int? {
        guard let first = read(1) else { return nil }
        var header = ByteReader(first, at: 68)
        return header.integer(4)
    }

    /// The objects of the schema that can be read.
    ///
    /// - Returns: nil if the first page is damaged. It holds the position of everything else, also of the free pages,
    ///   whose rows were deleted.
    package func schema() throws -> (objects: [SchemaObject], isComplete: Bool)? {
        guard read(1) != nil else { return nil }
        var objects: [SchemaObject] = []
        let losses = try readTable(at: 1) { _, values in
            guard values.count == 5, let type = values[0].string, let name = values[1].string,
                let table = values[2].string, case .integer(let root) = values[3]
            else { return }
            objects.append(
                SchemaObject(
                    type: type,
                    name: name,
                    table: table,
                    rootPage: Int(clamping: root),
                    statement: values[4].string ?? ""
                )
            )
        }
        return (objects, losses.areNone)
    }

    // MARK: Tables

    /// Reads the rows of a table, in the order of their row IDs as far as pages are intact.
    package func readTable(at root: Int, _ row: (Int64, [StoredValue]) throws -> Void) throws -> Losses {
        var walk = Walk()
        try readTable(root, .all, depth: 0, &walk, row)
        return walk.finished
    }

    /// Reads the rows of a table without row IDs, or the entries of an index.
    package func readIndex(at root: Int, _ row: ([StoredValue]) throws -> Void) throws -> Losses {
        var walk = Walk()
        try readIndex(root, depth: 0, &walk, row)
        return walk.finished
    }

    /// Calls `body`, whose pages count as unread afterwards: they can be read once more.
    package func readingAhead<R>(_ body: () throws -> R) rethrows -> R {
        let (pages, count) = (visited, readPageCount)
        defer { (visited, readPageCount) = (pages, count) }
        return try body()
    }

    /// The losses of a walk through a tree, and the depths at which pages are.
    private struct Walk {
        var losses = Losses()
        var leafDepth: Int?
        var damagedDepths: [Int: Int] = [:]

        /// The losses at the end of the walk. All leaves of a tree have the same depth, so that damaged pages at this
        /// depth are leaves.
        var finished: Losses {
            var losses = losses
            // A root without a readable leaf may be the only leaf.
            losses.leafCount = leafDepth.map { damagedDepths[$0] ?? 0 } ?? losses.pageCount
            return losses
        }

        mutating func lose(_ range: LostRange?, depth: Int) {
            losses.pageCount += 1
            damagedDepths[depth, default: 0] += 1
            if let range { losses.ranges.append(range) }
        }
    }

    /// Deeper trees would have more pages than a file can have.
    private static let maximumDepth = 40

    /// Reads a page of a tree, each at most once; nil for a damaged page and for a page of another kind of tree.
    private func treePage(_ number: Int, depth: Int, isTable: Bool) -> TreePage? {
        guard number >= 1, number < visited.count, !visited[number], depth < Self.maximumDepth else { return nil }
        let page = read(number).flatMap { TreePage($0, number: number) }
        if let page, page.kind.isTable != isTable { return nil }
        visited[number] = true
        readPageCount += 1
        return page
    }

    private func readTable(
        _ number: Int,
        _ range: LostRange,
        depth: Int,
        _ walk: inout Walk,
        _ row: (Int64, [StoredValue]) throws -> Void
    ) throws {
        guard let page = treePage(number, depth: depth, isTable: true) else { return walk.lose(range, depth: depth) }
        if page.kind == .tableLeaf {
            walk.leafDepth = depth
            walk.losses.readLeafCount += 1
            for cell in page.cells {
                guard let key = cell.key else { continue }
                walk.losses.readRowCount += 1
                guard let values = values(of: cell) else {
                    walk.losses.unreadableRowCount += 1
                    continue
                }
                try row(key, values)
            }
            return
        }
        var after = range.after
        for cell in page.cells {
            guard let child = cell.child, let key = cell.key else { continue }
            try readTable(child, LostRange(after: after, through: key), depth: depth + 1, &walk, row)
            after = key
        }
        if let child = page.lastChild {
            try readTable(child, LostRange(after: after, through: range.through), depth: depth + 1, &walk, row)
        }
    }

    private func readIndex(
        _ number: Int,
        depth: Int,
        _ walk: inout Walk,
        _ row: ([StoredValue]) throws -> Void
    ) throws {
        guard let page = treePage(number, depth: depth, isTable: false) else { return walk.lose(nil, depth: depth) }
        if page.kind == .indexLeaf {
            walk.leafDepth = depth
            walk.losses.readLeafCount += 1
        }
        for cell in page.cells {
            if let child = cell.child { try readIndex(child, depth: depth + 1, &walk, row) }
            walk.losses.readRowCount += 1
            guard let values = values(of: cell) else {
                walk.losses.unreadableRowCount += 1
                continue
            }
            try row(values)
        }
        if let child = page.lastChild { try readIndex(child, depth: depth + 1, &walk, row) }
    }

    /// The values of a row; values behind a damaged overflow page are lost. Nil if not even their types can be read.
    private func values(of cell: TreePage.Cell) -> [StoredValue]? {
        var payload = Array(cell.payload)
        var next = cell.overflowPage
        while let number = next, payload.count < cell.payloadByteCount {
            guard number >= 1, number < visited.count, !visited[number] else { break }
            visited[number] = true
            readPageCount += 1
            guard let page = read(number) else { break }
            payload += page[4..<min(page.count, 4 + cell.payloadByteCount - payload.count)]
            var reader = ByteReader(page)
            next = reader.integer(4)
        }
        return Record(payload, byteCount: cell.payloadByteCount)?.values
    }

    // MARK: Leaves without a parent

    /// Reads the leaves of tables whose parent page is damaged, so that no page that was read leads to them.
    ///
    /// Call it after all tables were read. Free pages keep the rows that were deleted with them: if the list of free
    /// pages cannot be read completely, no such leaf is read.
    ///
    /// - Parameter leaf: Receives the rows of one leaf.
    /// - Returns: Whether the list of free pages could be read.
    @discardableResult
    package func readOrphanedLeaves(_ leaf: ([(key: Int64, values: [StoredValue])]) throws -> Void) throws -> Bool {
        guard let free = freePages() else { return false }
        for number in stride(from: 2, to: visited.count, by: 1) where !visited[number] && !free.contains(number) {
            guard let bytes = read(number), let page = TreePage(bytes, number: number), page.kind == .tableLeaf else {
                continue
            }
            visited[number] = true
            readPageCount += 1
            try leaf(page.cells.compactMap { cell in cell.key.flatMap { key in values(of: cell).map { (key, $0) } } })
        }
        return true
    }

    /// The numbers of the free pages (SQLite file format, section 1.5); nil if a page of the list is damaged.
    private func freePages() -> Set<Int>? {
        guard let first = read(1) else { return nil }
        var header = ByteReader(first, at: 32)
        guard var trunk = header.integer(4), let count = header.integer(4) else { return nil }
        var free: Set<Int> = []
        while trunk != 0 {
            guard free.insert(trunk).inserted, let page = read(trunk) else { return nil }
            var reader = ByteReader(page)
            guard let next = reader.integer(4), let leaves = reader.integer(4), leaves <= page.count / 4 - 2 else {
                return nil
            }
            for _ in 0..<leaves { if let leaf = reader.integer(4) { free.insert(leaf) } }
            trunk = next
        }
        return free.count == count ? free : nil
    }
}

extension StoredValue {
    /// The text; nil for another value.
    package var string: String? {
        guard case .text(let bytes) = self else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A connection that keeps other connections from writing the pages of a file that is read without SQLite.
private final class FileHold {
    let connection: Connection

    /// Locks a file exclusively or, if other connections use it, begins a read transaction. A file that allows neither,
    /// for example on a medium that cannot be written, is not locked.
    init(_ files: DatabaseFiles, key: EncryptionKey) throws(DatabaseError) {
        var options = Database.Options(busyTimeoutMilliseconds: 0)
        options.cacheKilobytes = 100
        let counters = StatisticsCounters()
        do throws(DatabaseError) {
            connection = try ConnectionOpener.connect(files, options: options, counters: counters)
        } catch .permissionDenied {
            options.readOnly = true
            connection = try ConnectionOpener.connect(files, options: options, counters: counters)
        }
        connection.writesLogBackOnClose = false
        guard sqlite3_db_readonly(connection.handle, "main") == 0, let file = csqlcipher_main_file(connection.handle)
        else { return }
        if csqlcipher_lock_file(file, SQLITE_LOCK_SHARED) == SQLITE_OK,
            csqlcipher_lock_file(file, SQLITE_LOCK_EXCLUSIVE) == SQLITE_OK
        {
            return
        }
        csqlcipher_unlock_file(file)
        guard let inspection = try? FileInspection(files, of: connection, key: key),
            let derived = try? DerivedKey(key, fileSalt: inspection.salt, counters: counters)
        else { return }
        let opener = ConnectionOpener(files: files, key: derived, options: options, counters: counters)
        // The pages that are read for the transaction may be damaged.
        try? opener.prepare(connection, for: .reader)
        try? connection.runSettings("BEGIN; PRAGMA schema_version")
    }

    deinit {
        if !connection.isInTransaction, let file = csqlcipher_main_file(connection.handle) {
            csqlcipher_unlock_file(file)
        }
        connection.close()
    }
}
