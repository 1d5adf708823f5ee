#if os(Linux)
    import EncryptedSQLite
    import Foundation
    import TestSupport
    import Testing

    /// The failure model: the power fails during a change of the key. The disk has what was synchronized, and any part of
    /// the writes, renames and removals since then. Writes can be torn.
    ///
    /// A process records its writes and synchronizations; each state that a failure could leave is opened.
    @Suite(.enabled(if: HiddenSecret.isSearchable, "a sanitizer defines the functions that record"))
    struct PowerCutTests {
        private let folder = TemporaryFolder()

        // writing process                     | disk
        // saves rows 1 to 5                   | any instant:
        // changes the key                     |   exactly one key opens the file
        // saves rows 6 to 10, closes the file |   what was acknowledged before is there
        @Test func `after a power failure exactly one key opens the file, and acknowledged rows are there`() throws {
            let files = folder.file("files")
            try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
            let path = files.appending(path: "store").path
            try makeSample(path, key: key(1), rows: 200)
            var disk = try SimulatedDisk(files)
            let process = try RecordedProcess(.keys, in: files)
            try #require(process.result.status == 0, "\(process.result)")
            let recording = process.recording
            var generator = SeededGenerator()
            let wholePoints = recording.operations.indices.filter { index in
                if case .write = recording.operations[index] { false } else { true }
            }
            #expect(wholePoints.count > 20)
            var points = Dictionary(wholePoints.map { ($0, 1) }, uniquingKeysWith: +)
            for _ in 0..<killCount(200) {
                let isWhole = generator.chance(60)
                let index = isWhole ? generator.pick(wholePoints) : generator.pick(recording.operations.indices)
                points[try #require(index), default: 0] += 1
            }
            var (acknowledged, isChanged) = (0, false)
            var outcomes: [UInt8: Int] = [:]
            for (index, operation) in recording.operations.enumerated() {
                disk.execute(operation)
                if case .note(let text) = operation {
                    if text == "key" { isChanged = true } else { acknowledged += 1 }
                }
                for _ in 0..<points[index, default: 0] {
                    let chance = generator.pick([0, 20, 50, 80, 100])!
                    let content = disk.contentAfterFailure(chance, &generator)
                    let comment: Comment = "\(generator), operation \(index), chance \(chance)"
                    let opened = try reopen(content, acknowledged, comment)
                    if isChanged { #expect(opened == 2, comment) }
                    outcomes[opened ?? 0, default: 0] += 1
                }
            }
            #expect(isChanged && acknowledged == 10)
            #expect(outcomes[1, default: 0] > 0 && outcomes[2, default: 0] > 0)
            print("power failures: \(outcomes) \(generator)")
        }

        /// Opens the files that a failure left, with either key. Returns the byte of the key.
        private func reopen(_ content: [String: Data], _ acknowledged: Int, _ comment: Comment) throws -> UInt8? {
            let restored = TemporaryFolder()
            // The shared memory is not on the disk: SQLite empties it when the first connection opens it.
            for (name, bytes) in content where !name.hasSuffix("-shm") { try bytes.write(to: restored.file(name)) }
            var opened: [UInt8] = []
            for byte: UInt8 in [1, 2] {
                do {
                    let database = try openSample(restored.filePath("store"), key: key(byte), options: options)
                    opened.append(byte)
                    try database.read { connection in
                        #expect(try connection.string("PRAGMA integrity_check") == "ok", comment)
                        let rows = try connection.integer("SELECT count(*) FROM item WHERE _id <= 200")
                        #expect(rows == 200, comment)
                        let later = try connection.integer("SELECT count(*) FROM item WHERE _id > 1000") ?? 0
                        let last = try connection.integer("SELECT max(_id) - 1000 FROM item") ?? 0
                        #expect(later >= acknowledged && (later == 0 || last == later), comment)
                    }
                    try database.close()
                } catch DatabaseError.wrongKey {
                    continue
                } catch {
                    Issue.record("\(error) \(comment)")
                }
            }
            #expect(opened.count == 1, comment)
            // The opening removes an unfinished new file.
            #expect(try restored.names().filter { $0 != "store" && !$0.hasPrefix(".store.replacing-") } == [], comment)
            return opened.first
        }

        private var options: Database.Options { sampleOptions { $0.createsIfMissing = false } }

        private func key(_ byte: UInt8) throws -> EncryptionKey { try .raw(repeatElement(byte, count: 32)) }
    }
#endif
