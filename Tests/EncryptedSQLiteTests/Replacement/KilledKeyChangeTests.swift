#if os(Linux)
    import EncryptedSQLite
    import Foundation
    import TestSupport
    import Testing

    /// The failure model: the process that changes the key ends (SIGKILL) after any of its changes to the files.
    @Suite(.enabled(if: HiddenSecret.isSearchable, "a sanitizer defines the functions that record"))
    struct KilledKeyChangeTests {
        // writing process                     | after each change to the files: killed
        // saves rows 1 to 5                   |
        // changes the key                     |   exactly one key opens the file
        // saves rows 6 to 10, closes the file |   what was acknowledged is there
        @Test func `a process that is killed after any change leaves a file that exactly one key opens`() throws {
            let original = TemporaryFolder()
            try makeSample(original.filePath("store"), key: key(1), rows: 200)
            var outcomes: [UInt8: Int] = [:]
            for change in 1... {
                let folder = TemporaryFolder()
                try FileManager.default.copyItem(at: original.file("store"), to: folder.file("store"))
                let process = try RecordedProcess(.keys, in: folder.url, killedAfter: change)
                guard process.wasKilled else {
                    #expect(process.result.status == 0, "\(process.result)")
                    break
                }
                let isChanged = process.notes.contains("key")
                let acknowledged = process.notes.filter { $0 != "key" }.count
                let opened = try [1, 2].filter { try opens(folder, $0, acknowledged: acknowledged, "change \(change)") }
                #expect(opened.count == 1 && (!isChanged || opened == [2]), "change \(change)")
                // The opening removes an unfinished new file.
                #expect(try folder.names() == ["store"], "change \(change)")
                outcomes[opened.first ?? 0, default: 0] += 1
            }
            #expect(outcomes[1, default: 0] > 10 && outcomes[2, default: 0] > 10, "\(outcomes)")
        }

        /// Whether a key opens the file, which then has all its rows.
        private func opens(
            _ folder: TemporaryFolder,
            _ byte: UInt8,
            acknowledged: Int,
            _ comment: Comment
        ) throws -> Bool {
            do {
                let options = sampleOptions { $0.createsIfMissing = false }
                let database = try openSample(folder.filePath("store"), key: key(byte), options: options)
                try database.read { connection in
                    #expect(try connection.string("PRAGMA integrity_check") == "ok", comment)
                    #expect(try connection.integer("SELECT count(*) FROM item WHERE _id <= 200") == 200, comment)
                    let saved = try connection.integer("SELECT count(*) FROM item WHERE _id > 1000") ?? 0
                    #expect(saved == acknowledged || saved == acknowledged + 1, comment)
                }
                try database.close()
                return true
            } catch DatabaseError.wrongKey {
                return false
            }
        }

        private func key(_ byte: UInt8) throws -> EncryptionKey { try .raw(repeatElement(byte, count: 32)) }
    }
#endif
