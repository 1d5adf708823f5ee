import CSQLCipher
import Foundation
import Guarded
import Synchronization

/// Failures of the system calls with which SQLite reads and writes the files of one folder.
///
/// Other files are read and written as usual, so that other tests can run at the same time.
enum FileFaults {
    private struct Plan {
        var folder: dev_t
        var files: Set<UInt64>
        let paths: Set<String>
        /// The number of calls before the one that fails.
        var remaining: Int
        /// The number of calls that fail.
        var failures: Int
        let error: Int32
        let failsWrites: Bool
    }

    private static let plan = Guarded<Plan?>(nil)
    private static let isArmed = Atomic<Bool>(false)
    private static let originals = Guarded<[String: Call]>([:])

    private typealias Call = @convention(c) (Int32, UnsafeMutableRawPointer?, Int, Int64) -> Int

    /// Replaces the calls, once for the process.
    private static let areInstalled: Bool = {
        guard let vfs = sqlite3_vfs_find(nil) else { return false }
        let names = ["pread", "pread64", "pwrite", "pwrite64"]
        for name in names {
            guard let original = vfs.pointee.xGetSystemCall?(vfs, name) else { continue }
            originals.withLock { $0[name] = unsafeBitCast(original, to: Call.self) }
            let replacement: Call =
                switch name {
                case "pread": { FileFaults.call("pread", $0, $1, $2, $3, isWrite: false) }
                case "pread64": { FileFaults.call("pread64", $0, $1, $2, $3, isWrite: false) }
                case "pwrite": { FileFaults.call("pwrite", $0, $1, $2, $3, isWrite: true) }
                default: { FileFaults.call("pwrite64", $0, $1, $2, $3, isWrite: true) }
                }
            _ = vfs.pointee.xSetSystemCall?(vfs, name, unsafeBitCast(replacement, to: sqlite3_syscall_ptr.self))
        }
        return !originals.withLock { $0.isEmpty }
    }()

    private static func call(
        _ name: String,
        _ descriptor: Int32,
        _ buffer: UnsafeMutableRawPointer?,
        _ count: Int,
        _ offset: Int64,
        isWrite: Bool
    ) -> Int {
        if isArmed.load(ordering: .relaxed), let error = takeFault(descriptor, isWrite: isWrite) {
            errno = error
            return -1
        }
        guard let original = originals.withLock({ $0[name] }) else { return -1 }
        return original(descriptor, buffer, count, offset)
    }

    private static func takeFault(_ descriptor: Int32, isWrite: Bool) -> Int32? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        return plan.withLock { plan in
            guard var current = plan, current.failsWrites == isWrite, current.folder == status.st_dev,
                current.files.contains(UInt64(status.st_ino)), isFile(descriptor, at: current.paths)
            else { return nil }
            guard current.remaining > 0 else {
                current.failures -= 1
                plan = current.failures > 0 ? current : nil
                if plan == nil { isArmed.store(false, ordering: .relaxed) }
                return current.error
            }
            current.remaining -= 1
            plan = current
            return nil
        }
    }

    /// Whether a file with the number of one of the files is this one: the system gives the number of a deleted file to the
    /// next new file, which can be of another test.
    private static func isFile(_ descriptor: Int32, at paths: Set<String>) -> Bool {
        #if os(Linux)
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            return path.map(paths.contains) ?? false
        #else
            return true
        #endif
    }

    /// Runs `body`, in which one call on the files fails, or several in succession.
    ///
    /// - Parameters:
    ///   - paths: The files; those that do not exist are ignored.
    ///   - call: The number of the first call that fails, from 0 on.
    ///   - count: The number of calls that fail.
    /// - Returns: Whether all of these calls were reached.
    static func failing(
        _ paths: [String],
        call: Int,
        count: Int = 1,
        with error: Int32,
        onWrite: Bool,
        _ body: () throws -> Void
    ) rethrows -> Bool {
        guard areInstalled else { return false }
        var files: Set<UInt64> = []
        var device: dev_t = 0
        for path in paths {
            var status = stat()
            guard stat(path, &status) == 0 else { continue }
            files.insert(UInt64(status.st_ino))
            device = status.st_dev
        }
        let new = Plan(
            folder: device,
            files: files,
            paths: Set(paths),
            remaining: call,
            failures: count,
            error: error,
            failsWrites: onWrite
        )
        plan.withLock { $0 = new }
        isArmed.store(true, ordering: .relaxed)
        defer {
            isArmed.store(false, ordering: .relaxed)
            plan.withLock { $0 = nil }
        }
        try body()
        return plan.withLock { $0 } == nil
    }
}
