#if os(Linux)
    import EncryptedSQLite
    import Foundation
    import TestSupport
    import Testing

    /// The failure model: the power fails while a process saves with the default durability, which does not wait for the
    /// disk. The disk has what was synchronized, and any of the blocks of 512 to 4,096 bytes that were written since.
    ///
    /// A process records its writes and synchronizations; states that a failure could leave are opened.
    @Suite(.enabled(if: HiddenSecret.isSearchable, "a sanitizer defines the functions that record"))
    struct UnsynchronizedLogTests {
        private let folder = TemporaryFolder()

        // writing process                    | disk
        // saves rows 1 to 60                 | any instant:
        // writes the log back every 15 rows  |   the file opens with rows 1 to n, at least those that were written back
        @Test func `after a power failure the file opens with the first saves, at least to the last checkpoint`() throws
        {
            let files = folder.file("files")
            try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
            try makeSample(files.appending(path: "store").path, key: key(), rows: 200)
            var disk = try SimulatedDisk(files)
            let process = try RecordedProcess(.saves, in: files)
            try #require(process.result.status == 0, "\(process.result)")
            let recording = process.recording
            var generator = SeededGenerator()
            var points: [Int: Int] = [:]
            for _ in 0..<killCount(60) { points[generator.pick(recording.operations.indices)!, default: 0] += 1 }
            var (saved, writtenBack) = (0, 0)
            var losses: [Int] = []
            for (index, operation) in recording.operations.enumerated() {
                disk.execute(operation)
                if case .note(let text) = operation {
                    if text == "checkpoint" { writtenBack = saved } else { saved += 1 }
                }
                for _ in 0..<points[index, default: 0] {
                    let byteCount = generator.pick([512, 1024, 4096])!
                    let chance = generator.pick([0, 50, 80, 95, 99])!
                    let content = disk.contentAfterLoss(ofBlocksOf: byteCount, chance, &generator)
                    let comment: Comment = "\(generator), operation \(index), blocks of \(byteCount), chance \(chance)"
                    let (rows, loss) = try reopen(content, comment) ?? (saved, nil)
                    // A save that has not returned yet may be there.
                    #expect(rows >= writtenBack && rows <= saved + 1, comment)
                    #expect(rows + (loss?.commitCount ?? 0) <= saved + 1, comment)
                    losses.append(saved - rows)
                }
            }
            #expect(saved == 60 && writtenBack == 60)
            #expect(losses.contains { $0 > 0 }, "\(generator)")
        }

        /// Opens the files that a failure left. Returns the number of rows, and the reported loss.
        private func reopen(_ content: [String: Data], _ comment: Comment) throws -> (rows: Int, loss: LogLoss?)? {
            let restored = TemporaryFolder()
            // The shared memory is not on the disk: SQLite empties it when the first connection opens it.
            for (name, bytes) in content where !name.hasSuffix("-shm") { try bytes.write(to: restored.file(name)) }
            do {
                let database = try openSample(restored.filePath("store"), key: key())
                defer { try? database.close() }
                return try database.read { connection in
                    #expect(try connection.string("PRAGMA integrity_check") == "ok", comment)
                    #expect(try connection.integer("SELECT count(*) FROM item WHERE _id <= 200") == 200, comment)
                    let count = try connection.integer("SELECT count(*) FROM item WHERE _id > 1000") ?? 0
                    let last = try connection.integer("SELECT max(_id) - 1000 FROM item WHERE _id > 1000") ?? 0
                    #expect(last == count, comment)
                    return (Int(count), database.takeLogLoss())
                }
            } catch {
                Issue.record("\(error) \(comment)")
                return nil
            }
        }

        private func key() throws -> EncryptionKey { try .raw(repeatElement(1, count: 32)) }
    }
#endif
