import CFileRecorder
import EncryptedSQLite
import Foundation

/// Saves rows, changes the key and saves further rows, and records what it does to the files; `EncryptedSQLiteTests`
/// starts it.
///
/// Usage: power-cut-writer FOLDER NAME RECORDING
///
/// The notes in the recording are `row N` after the commit of a row, and `key` after the change of the key. The key of
/// the file consists of bytes 1, the new one of bytes 2.
@main
enum PowerCutWriter {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else {
            FileHandle.standardError.write(Data("usage: power-cut-writer FOLDER NAME RECORDING\n".utf8))
            exit(2)
        }
        guard cfilerecorder_is_supported() != 0 else { exit(3) }
        guard cfilerecorder_start(arguments[1], arguments[3]) != 0 else { exit(4) }
        let options = Database.Options(applicationID: 0x5EA1, newestUserVersion: 1, durability: .powerLoss)
        let path = arguments[1] + "/" + arguments[2]
        let database = try Database(.file(path), key: .raw(repeatElement(1, count: 32)), options: options)
        for number in 1...5 { try save(number, in: database) }
        try database.changeKey(to: .raw(repeatElement(2, count: 32)))
        cfilerecorder_note("key")
        for number in 6...10 { try save(number, in: database) }
        try database.close()
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
