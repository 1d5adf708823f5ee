public import EncryptedSQLite
public import Foundation
import ObjectGraph

extension SealedStore {
    /// Checks the store in a file, without the program that made it, and changes nothing.
    ///
    /// A file that does not open as a store has a report, too: its damaged pages, or the part of its metadata or schema
    /// that a store would not have.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - key: The key of the file.
    ///   - progress: Counts to 1,000. It can be cancelled.
    /// - Returns: The report. The words of full-text indexes are not compared.
    /// - Throws: `DatabaseError` for a file that does not exist, that the key does not open, or that is no database;
    ///   ``SealedStoreError/notAStore``; `CancellationError`.
    /// - Complexity: As ``check(progress:)``.
    public static func check(_ url: URL, key: EncryptionKey, progress: Progress? = nil) throws -> StoreReport {
        let description = PersistentStoreDescription(
            type: storeType,
            url: url,
            isReadOnly: true,
            options: [keyOption: key]
        )
        do {
            return try ReplacedFile.beginningAgain { _ in
                let opened = try StoreOpening(model: model(of: description), description: description).open()
                defer { try? opened.database.close() }
                return try ReplacedFile.using(opened.database) { try opened.check(WorkProgress(progress)) }
            }
        } catch let error as DatabaseError where error.mayBeDamageOfFirstPage {
            return try reportOfPages(url, key, StoreProblem(.damage("a page cannot be read")), progress)
        } catch DatabaseError.foreignLog(let path) {
            let report = try reportOfPages(url, key, nil, progress)
            // Without damage, the log belongs to another file.
            guard !report.isSound else { throw DatabaseError.foreignLog(path: path) }
            return report
        } catch SealedStoreError.damagedMetadata(let part) {
            return try reportOfPages(url, key, StoreProblem(.damagedMetadata(part)), progress)
        } catch SealedStoreError.foreignSchema(let object) {
            return try reportOfPages(url, key, StoreProblem(.foreignSchema(object)), progress)
        }
    }

    /// The damaged pages of a file that cannot be opened, and the lost transactions of its log.
    ///
    /// - Parameter problem: The reason for which it cannot be opened, which is reported if no page is damaged.
    static func reportOfPages(
        _ url: URL,
        _ key: EncryptionKey,
        _ problem: StoreProblem?,
        _ progress: Progress?
    ) throws -> StoreReport {
        let progress = WorkProgress(progress)
        let pages = try DamagedFile(path: url.path, key: key).verifyPages { done, all in
            try progress.show(1000 * done / all)
        }
        return StoreReport(
            problems: pages.problems + (pages.damagedPageCount > 0 ? [] : [problem].compactMap { $0 }),
            pageCount: pages.pageCount,
            logPageCount: pages.logFrameCount
        )
    }
}

extension DatabaseError {
    /// Whether damage to the first page can be the cause. The other pages show whether the key is right.
    var mayBeDamageOfFirstPage: Bool {
        switch self {
        case .damaged, .wrongKey, .notADatabase(_, .unrecognised): true
        default: false
        }
    }
}
