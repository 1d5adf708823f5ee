import Foundation
import Journal

/// Writes to a store as another process; `SealedStoreTests` starts it.
///
/// With a number, it saves entries, one pair after the other, until it is killed, and acknowledges each save on standard
/// output by the pair's number. With a seed and a number of steps, it makes random changes of a graph.
///
/// Usage: journal-writer STORE FIRST
///        journal-writer STORE SEED STEPS
@main
enum JournalWriter {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.count == 4, let seed = UInt64(arguments[2]), let steps = Int(arguments[3]) {
            return try LinkWorkload.run(URL(filePath: arguments[1]), seed: seed, steps: steps)
        }
        guard arguments.count == 3, let first = Int64(arguments[2]) else {
            FileHandle.standardError.write(Data("usage: journal-writer STORE FIRST | STORE SEED STEPS\n".utf8))
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
