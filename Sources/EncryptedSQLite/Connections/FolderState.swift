import CSQLCipher
import Foundation

/// The state of a folder's list of names. It differs after each name that is added, removed or replaced, as far as the
/// times of the file system tell.
struct FolderState: Equatable {
    private let device: UInt64
    private let inode: UInt64
    /// The time of the last change of the list, which programs can set, and the time of the last change of any
    /// attribute, which they cannot set.
    private let modified: Time
    private let changed: Time

    private struct Time: Equatable {
        let seconds: Int
        let nanoseconds: Int

        init(_ time: timespec) {
            seconds = Int(time.tv_sec)
            nanoseconds = Int(time.tv_nsec)
        }
    }

    /// Reads the state of a folder; nil if the path, which ends with a zero byte, leads to none.
    init?(name: [CChar]) {
        var status = stat()
        guard stat(name, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        #if canImport(Darwin)
            (modified, changed) = (Time(status.st_mtimespec), Time(status.st_ctimespec))
        #else
            (modified, changed) = (Time(status.st_mtim), Time(status.st_ctim))
        #endif
    }

    /// Whether every later change gets a time later than both of these. A change takes the time of the last tick of the
    /// clock, at most 10 ms ago; file systems that store no fractions of a second round it to one or two seconds.
    var isSettled: Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return [modified, changed].allSatisfy { time in
            // A file system may store any time, so that the difference can overflow.
            let (seconds, overflows) = Int(now.tv_sec).subtractingReportingOverflow(time.seconds)
            guard !overflows, seconds >= 0 else { return false }
            if seconds > 4 { return true }
            let hasFraction = time.nanoseconds % 1_000_000 != 0
            return hasFraction && seconds * 1_000_000_000 + Int(now.tv_nsec) - time.nanoseconds > 25_000_000
        }
    }
}
