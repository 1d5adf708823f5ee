/// The failures that a committed transaction survives.
///
/// The choice concerns the last transactions only. With either choice, the database is consistent after any failure: a
/// transaction is there completely or not at all, and no transaction is there without the transactions that were
/// committed before it.
public enum Durability: Hashable, Sendable {
    /// A crash or forced end of the process at any instant. The default.
    ///
    /// A commit passes its changes to the operating system and does not wait for the disk. A power failure or a crash
    /// of the operating system may undo the last commits, back to the last checkpoint at worst: if one block of the log
    /// is missing, all commits behind it are lost. The next opening reports the lost commits that it finds. This is
    /// SQLite's `synchronous=NORMAL` with a write-ahead log, and the usual choice for the data of an app: waiting for
    /// the disk extends a small save from less than 0.1 ms to the time that the disk needs, between 0.1 and 10 ms.
    case applicationCrash
    /// A power failure and a crash of the operating system, too.
    ///
    /// Each commit waits until the disk has its changes: SQLite's `synchronous=FULL`, and on Apple's systems
    /// `fullfsync`, without which the disk's own cache may lose them. Its price is one such wait for each save,
    /// however large the save is.
    case powerLoss
}

extension Durability {
    /// The settings of a connection, in SQL.
    var settings: String {
        let synchronous =
            switch self {
            case .applicationCrash: "NORMAL"
            case .powerLoss: "FULL"
            }
        // On Apple's systems, fsync() does not keep the order of writes. Checkpoints need the order with either choice:
        // the consistency of the database depends on it. On other systems, these settings have no effect.
        #if canImport(Darwin)
            let isFull = self == .powerLoss ? "ON" : "OFF"
            return "PRAGMA synchronous = \(synchronous); PRAGMA fullfsync = \(isFull); PRAGMA checkpoint_fullfsync = ON"
        #else
            return "PRAGMA synchronous = \(synchronous)"
        #endif
    }
}
