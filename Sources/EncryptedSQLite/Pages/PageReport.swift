/// The result of the verification of all pages of a database file and its log.
package struct PageReport: Hashable, Sendable {
    /// The number of pages of the database.
    package var pageCount = 0
    /// The number of frames in the log.
    package var logFrameCount = 0
    /// The number of pages whose content does not verify, or is missing, and of which the log has no newer version.
    package var damagedPageCount = 0
    /// The smallest number of such a page, from 1 on.
    package var firstDamagedPage: Int?
    /// The number of committed transactions in the log that lie behind a damaged header or frame. SQLite does not read
    /// them.
    package var lostCommitCount = 0
    /// Whether the log has pages, but a damaged header, so that SQLite takes it for an empty one.
    package var ignoresLog = false

    package init() {}

    mutating func noteDamage(of page: Int) {
        damagedPageCount += 1
        firstDamagedPage = min(firstDamagedPage ?? page, page)
    }

    /// Adds pages that are missing at the end.
    mutating func noteMissing(_ count: Int) {
        guard count > 0 else { return }
        damagedPageCount += count
        firstDamagedPage = firstDamagedPage ?? pageCount + 1
        pageCount += count
    }
}
