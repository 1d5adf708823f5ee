import CFileRecorder
import EncryptedSQLite
import Foundation

/// Works on a database and records what it does to the files; `EncryptedSQLiteTests` starts it.
///
/// Usage: recorded-writer create|keys|saves|restore FOLDER NAME RECORDING [CHANGE]
///
/// - `create` creates the database, saves row 1 and closes it.
/// - `keys` opens a database, saves rows 1 to 5, changes the key, saves rows 6 to 10 and closes it.
/// - `saves` opens a database with the default durability, saves rows 1 to 60 and closes it. After every 15 rows it writes
///   the log back, so that the next row begins the log again.
/// - `restore` puts the file `backup` of the folder, whose key consists of bytes 2, in the place of a database.
///
/// The notes in the recording are `row N` after the commit of a row, `key` after the change of the key, `checkpoint` after
/// the log was written back, and `restored`. The key of the file consists of bytes 1, the new one of bytes 2. With CHANGE,
/// the process kills itself after this change to the
/// files, beginning with 1.
@main
enum RecordedWriter {
    private enum Work: String {
        case create, keys, saves, restore
    }

    static func main() throws {
        let arguments = CommandLine.arguments
        guard (5...6).contains(arguments.count), let work = Work(rawValue: arguments[1]) else {
            FileHandle.standardError.write(
                Data("usage: recorded-writer create|keys|saves|restore FOLDER NAME RECORDING [CHANGE]\n".utf8)
            )
            exit(2)
        }
        guard cfilerecorder_is_supported() != 0 else { exit(3) }
        if arguments.count == 6 {
            guard let change = UInt64(arguments[5]), change > 0 else { exit(2) }
            cfilerecorder_kill_after(change)
        }
        guard cfilerecorder_start(arguments[2], arguments[4]) != 0 else { exit(4) }
        let options = Database.Options(
            createsIfMissing: work == .create,
            applicationID: 0x5EA1,
            newestUserVersion: 1,
            durability: work == .saves ? .applicationCrash : .powerLoss
        )
        let path = arguments[2] + "/" + arguments[3]
        guard work != .restore else {
            let key = try EncryptionKey.raw(repeatElement(2, count: 32))
            try Database.restore(arguments[2] + "/backup", key: key, to: path, options: options)
            cfilerecorder_note("restored")
            return
        }
        // Files of a key with a salt have the same page keys: the new file could read an old log.
        let salt: [UInt8]? = work == .create ? [UInt8](repeating: 9, count: 16) : nil
        let key = try EncryptionKey.raw(repeatElement(1, count: 32), salt: salt)
        let database = try Database(.file(path), key: key, options: options) {
            connection in
            try connection.execute("CREATE TABLE item (_id INTEGER PRIMARY KEY, name TEXT) STRICT")
        }
        switch work {
        case .create:
            try save(1, in: database)
        case .keys:
            for number in 1...5 { try save(number, in: database) }
            try database.changeKey(to: .raw(repeatElement(2, count: 32)))
            cfilerecorder_note("key")
            for number in 6...10 { try save(number, in: database) }
        case .saves:
            try saveAndWriteBack(database)
        case .restore: break
        }
        try database.close()
    }

    private static func saveAndWriteBack(_ database: Database) throws {
        for number in 1...60 {
            try save(number, in: database)
            guard number % 15 == 0 else { continue }
            try database.writeWithoutTransaction { try $0.execute("PRAGMA wal_checkpoint(RESTART)") }
            cfilerecorder_note("checkpoint")
        }
    }

    private static func save(_ number: Int, in database: Database) throws {
        try database.write { connection in
            try connection.withStatement("INSERT INTO item VALUES (?, ?)") { statement in
                try statement.bind(Int64(1000 + number), at: 1)
                try statement.bind(text: "row \(number)", at: 2)
                try statement.run()
            }
        }
        cfilerecorder_note("row \(number)")
    }
}
