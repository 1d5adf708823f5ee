#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// A process of `recorded-writer`, which has ended.
    struct RecordedProcess {
        let result: ToolResult
        let recording: FileRecording

        /// The work of the process.
        enum Work: String {
            case create, keys, saves, restore
        }

        /// Runs the process on the file `store` of a folder.
        ///
        /// - Parameter change: The change to the files after which the process is killed, beginning with 1.
        init(_ work: Work, in files: URL, killedAfter change: Int? = nil) throws {
            let writer = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appending(path: "recorded-writer")
            let other = TemporaryFolder()
            let path = try #require(realpath(files.path, nil))
            defer { free(path) }
            var arguments = [work.rawValue, String(cString: path), "store", other.filePath("recording")]
            if let change { arguments.append(String(change)) }
            result = try run(writer.path, arguments)
            recording = try FileRecording(other.file("recording"))
        }

        /// Whether the process was killed at its change, and did not end before.
        var wasKilled: Bool { result.status == SIGKILL && result.output.isEmpty && result.errors.isEmpty }

        /// The notes in their order.
        var notes: [String] {
            recording.operations.compactMap { if case .note(let text) = $0 { text } else { nil } }
        }
    }
#endif
