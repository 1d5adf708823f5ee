package import Dispatch
package import Foundation

/// A process that a test starts; killed with the last reference to it.
///
/// It is not a `Process` of Foundation, whose `waitUntilExit()` needs the run loop, and can miss the end of a process
/// that is killed while other threads start processes.
package final class ChildProcess {
    package let identifier: pid_t
    /// The standard output; nil if it is a terminal.
    private let output: FileHandle?
    /// Where ``send(_:)`` writes; nil if the standard input is a text.
    private let commands: FileHandle?
    /// The standard error; nil if it is that of this process.
    private let errors: FileHandle?
    private var received = Data()
    /// The status that `waitpid` returned; nil while the process may run.
    private var status: Int32?

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - environment: The variables; nil for those of this process.
    ///   - input: The content of the standard input; nil if ``send(_:)`` writes it.
    ///   - capturesErrors: Whether the result contains the standard error. Otherwise, it is that of this process.
    /// - Throws: `POSIXError`.
    package init(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String]? = nil,
        input: String? = "",
        capturesErrors: Bool = true
    ) throws {
        // Files rather than pipes: a process that writes to one full pipe while another one is read would never end.
        let standardInput: FileHandle
        if let input {
            standardInput = try Self.unnamedFile(Data(input.utf8))
            commands = nil
        } else {
            let pipe = try Self.pipe()
            standardInput = pipe.reading
            commands = pipe.writing
        }
        errors = capturesErrors ? try Self.unnamedFile() : nil
        let pipe = try Self.pipe()
        output = pipe.reading
        identifier = try Self.start(
            executable,
            arguments,
            environment,
            input: standardInput.fileDescriptor,
            output: pipe.writing.fileDescriptor,
            errors: errors?.fileDescriptor
        )
        try pipe.writing.close()
    }

    /// Starts a process whose standard streams are a terminal.
    ///
    /// - Throws: `POSIXError`.
    package init(_ executable: String, _ arguments: [String], terminal: Int32) throws {
        (output, commands, errors) = (nil, nil, nil)
        identifier = try Self.start(executable, arguments, nil, input: terminal, output: terminal, errors: terminal)
    }

    deinit { _ = end() }

    // MARK: Input and output

    /// Writes a text to the standard input.
    package func send(_ text: String) { commands?.write(Data(text.utf8)) }

    /// The standard output that has been received.
    package var receivedOutput: String { String(decoding: received, as: UTF8.self) }

    /// Waits until the process has written a number of further lines to the standard output, or has closed it.
    package func waitForLines(_ count: Int) {
        let isLineEnd = { (byte: UInt8) in byte == UInt8(ascii: "\n") }
        let end = received.count(where: isLineEnd) + count
        while received.count(where: isLineEnd) < end {
            guard let more = output?.availableData, !more.isEmpty else { return }
            received += more
        }
    }

    /// Receives the rest of the standard output, until the process closes it.
    private func receiveRest() { received += (try? output?.readToEnd()) ?? Data() }

    #if os(Linux)
        /// The environment with which the process was started, as other processes see it now.
        package var environment: String {
            get throws {
                String(decoding: try Data(contentsOf: URL(filePath: "/proc/\(identifier)/environ")), as: UTF8.self)
            }
        }
    #endif

    // MARK: End

    /// Whether the process has not ended.
    package var isRunning: Bool { waitForEnd(WNOHANG) == nil }

    /// Sends a signal to the process unless it has ended.
    package func send(_ signal: Int32) {
        if status == nil { kill(identifier, signal) }
    }

    /// Kills the process unless it has ended, and receives the rest of its output.
    ///
    /// - Returns: The signal that ended the process; nil if it exited.
    package func end() -> Int32? {
        // The process is not reaped before, so that the identifier cannot be that of another process.
        if status == nil { kill(identifier, SIGKILL) }
        receiveRest()
        let signal = (waitForEnd() ?? 0) & 0x7f
        return signal == 0 ? nil : signal
    }

    /// Waits until the process has ended, without receiving its output.
    ///
    /// - Returns: false if it still runs at the given time.
    package func waitForEnd(until time: DispatchTime) -> Bool {
        let (identifier, ended) = (identifier, DispatchSemaphore(value: 0))
        DispatchQueue.global().async {
            var information = siginfo_t()
            // The process is not reaped, so that the identifier cannot be that of another process. An error means that it
            // was.
            while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            ended.signal()
        }
        return ended.wait(timeout: time) == .success
    }

    /// Receives the rest of the output, and waits until the process ends.
    package func wait() throws -> ToolResult {
        receiveRest()
        let status = waitForEnd() ?? 0
        try errors?.seek(toOffset: 0)
        return ToolResult(
            status: status & 0x7f == 0 ? status >> 8 & 0xff : status & 0x7f,
            output: receivedOutput,
            errors: String(decoding: try errors?.readToEnd() ?? Data(), as: UTF8.self)
        )
    }

    /// Returns the status of the process after its end; nil if it runs and `options` are `WNOHANG`.
    private func waitForEnd(_ options: Int32 = 0) -> Int32? {
        while status == nil {
            var code: Int32 = 0
            let found = waitpid(identifier, &code, options)
            if found == 0 { return nil }
            if found == identifier || errno != EINTR { status = code }
        }
        return status
    }

    // MARK: Starting

    #if canImport(Darwin)
        private typealias Actions = posix_spawn_file_actions_t?
        private typealias Attributes = posix_spawnattr_t?
    #else
        private typealias Actions = posix_spawn_file_actions_t
        private typealias Attributes = posix_spawnattr_t
    #endif

    /// Starts a process with standard streams; the errors go to those of this process if the descriptor is nil.
    private static func start(
        _ executable: String,
        _ arguments: [String],
        _ environment: [String: String]?,
        input: Int32,
        output: Int32,
        errors: Int32?
    ) throws -> pid_t {
        var actions = Actions()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        if let errors { posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) }
        var attributes = Attributes()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        receiveAllSignals(&attributes)
        // A process that is killed while it crashes would leave its backtracer, which keeps the output open for good.
        let variables = (environment ?? ProcessInfo.processInfo.environment)
            .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }.map { "\($0)=\($1)" }
        var identifier: pid_t = 0
        let code = withCStrings([executable] + arguments) { arguments in
            withCStrings(variables) { variables in
                starting.withLock { posix_spawn(&identifier, executable, &actions, &attributes, arguments, variables) }
            }
        }
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        return identifier
    }

    /// Gives a process no blocked signals and the signals' default actions. It would inherit those of this thread and
    /// process: the threads of a pool block most signals, and `nohup` ignores one.
    private static func receiveAllSignals(_ attributes: inout Attributes) {
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    }

    /// Opens a file without a name, which the processes do not inherit.
    private static func unnamedFile(_ content: Data = Data()) throws -> FileHandle {
        let url = FileManager.default.temporaryDirectory.appending(path: "SealedData-\(UUID().uuidString)")
        let descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        unlink(url.path)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try handle.write(contentsOf: content)
        try handle.seek(toOffset: 0)
        return handle
    }

    /// Held while a pipe is opened and while a process starts, so that no other process inherits the ends of the pipe:
    /// reading ends with the process.
    private static let starting = NSLock()

    private static func pipe() throws -> (reading: FileHandle, writing: FileHandle) {
        try starting.withLock {
            let pipe = Pipe()
            let (reading, writing) = (pipe.fileHandleForReading, pipe.fileHandleForWriting)
            for handle in [reading, writing] {
                guard fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC) == 0 else {
                    throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
                }
            }
            return (reading, writing)
        }
    }

    private static func withCStrings<R>(
        _ texts: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> R
    ) -> R {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
