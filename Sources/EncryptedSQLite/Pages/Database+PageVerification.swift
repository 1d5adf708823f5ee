import CSQLCipher
import Foundation

extension Database {
    /// Verifies the authentication code of every page of the file and reads the log, while other connections read and
    /// write.
    ///
    /// A read transaction keeps checkpoints from writing pages that the log does not hold, so that a page which does
    /// not verify, and of which the log has no version, is damaged. A page that the log holds is written again by the
    /// next checkpoint.
    ///
    /// A file with a damaged page takes no writes afterwards, see ``SharedFile/isDamaged``. If all pages verify, it
    /// takes writes again.
    ///
    /// - Parameter didVerify: Called with the number of verified pages and the number of all pages. An error ends the
    ///   work.
    /// - Returns: The report; empty for a database in memory.
    /// - Throws: `inputOutput` if the system cannot read a page or the log; errors of `didVerify`.
    /// - Complexity: O(*n*) in the size of the file. Memory grows with the number of different pages in the log.
    package func verifyPages(_ didVerify: (Int, Int) throws -> Void) throws -> PageReport {
        guard location != .memory else { return PageReport() }
        let progress = Progress(totalUnitCount: 1)
        return try work.run(progress) {
            try readPages { number, count in
                if progress.isCancelled { throw CancellationError() }
                try didVerify(number, count)
            }
        }
    }

    private func readPages(_ didVerify: (Int, Int) throws -> Void) throws -> PageReport {
        var report = PageReport()
        let session = try openSession()
        let opener = session.opener
        let findings = session.file.findingCount
        let connection = try session.file.open(with: opener) { (opener) throws(DatabaseError) in
            let connection = try opener.connect()
            try opener.prepare(connection, for: .reader)
            return connection
        }
        defer { connection.close() }
        // A hole takes no space on the disk, but time to read.
        try opener.files.checkContentLength()
        // Begins the transaction with the version number on the first page: the schema may be on a damaged page.
        try connection.runSettings("BEGIN; PRAGMA schema_version")
        let cipher = try PageCipher(opener.key)
        let log = opener.isImmutable ? LogContent() : LogContent(path: opener.files.log, cipher: cipher)
        guard !log.hasReadError else {
            throw DatabaseError.inputOutput(extendedCode: DatabaseError.readFailureCode, isIndeterminate: false)
        }
        report.logFrameCount = log.frameCount
        report.lostCommitCount = log.lostCommitCount
        report.ignoresLog = log.isIgnored
        guard let file = csqlcipher_main_file(connection.handle) else {
            throw DatabaseError.damaged(path: connection.path)
        }
        var byteCount: Int64 = 0
        guard csqlcipher_file_size(file, &byteCount) == SQLITE_OK else {
            throw DatabaseError.inputOutput(extendedCode: SQLITE_IOERR, isIndeterminate: false)
        }
        report.pageCount = Int(byteCount) / PageCipher.pageByteCount
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: PageCipher.pageByteCount, alignment: 8)
        defer { buffer.deallocate() }
        for number in stride(from: 1, through: report.pageCount, by: 1) where Int64(number) != PageCipher.lockPage {
            let offset = Int64(number - 1) * Int64(PageCipher.pageByteCount)
            let result = cipher.reads(UInt32(number), into: buffer) {
                csqlcipher_file_read(file, $0.baseAddress, Int32($0.count), offset)
            }
            if log.offsets[UInt32(number)] == nil {
                switch result {
                case .intact: break
                case .damaged: report.noteDamage(of: number)
                case .unreadable:
                    throw DatabaseError.inputOutput(
                        extendedCode: DatabaseError.readFailureCode,
                        isIndeterminate: false
                    )
                }
            }
            if number % 64 == 0 { try didVerify(number, report.pageCount) }
        }
        if report.damagedPageCount > 0 {
            connection.noteDamage()
        } else if report.lostCommitCount == 0 {
            session.file.noteVerifiedPages(after: findings)
        }
        return report
    }
}
