import Foundation
import Journal

/// Saves entries to a store, one pair after the other, until it is killed, and acknowledges each save on standard output
/// by the pair's number. `SealedStoreTests` starts it.
///
/// Usage: journal-writer STORE FIRST
@main
enum JournalWriter {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let first = Int64(arguments[2]) else {
            FileHandle.standardError.write(Data("usage: journal-writer STORE FIRST\n".utf8))
            exit(2)
        }
        let context = try Journal.open(URL(filePath: arguments[1]))
        var number = first
        while true {
            try Journal.writePair(number, in: context)
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
            number += 1
        }
    }
}
