import Foundation
import Journal

/// Writes to a store as another process; `SealedStoreTests` starts it.
///
/// With a number, it saves pairs of entries until it is killed, and acknowledges each save by the number of the pair on
/// standard output. With a seed and a number of steps, it makes random changes of a graph. As a writer of a network, it
/// saves random changes until it is killed, and writes a ``NetworkLog``. It can also migrate a store to a version of a
/// model or through all versions in stages, change its key forth and back, save pairs while another process changes the
/// key, carry out an operation on a whole store, exchange its changes with other stores until it is killed, and obey
/// commands that change a ``Bookcase``.
///
/// Usage: journal-writer STORE FIRST
///        journal-writer STORE SEED STEPS
///        journal-writer STORE network WRITER
///        journal-writer STORE migrate VERSION
///        journal-writer STORE stages
///        journal-writer STORE rekey
///        journal-writer STORE pairs FIRST
///        journal-writer STORE exchange FOLDER FIRST
///        journal-writer STORE commands
///        journal-writer STORE following
///        journal-writer STORE OPERATION TARGET, see ``JournalMaintenance``
@main
enum JournalWriter {
    static func main() {
        do {
            try run()
        } catch {
            // An error at the top level would start the runtime's backtrace, which keeps the standard output open.
            FileHandle.standardError.write(Data("journal-writer: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run() throws {
        let arguments = CommandLine.arguments
        if arguments.count == 4, arguments[2] == "migrate", let version = Int(arguments[3]) {
            acknowledge("begun\n")
            try MigratedJournal.migrate(URL(filePath: arguments[1]), to: version)
            return acknowledge("done\n")
        }
        if arguments.count == 3, arguments[2] == "stages" {
            acknowledge("begun\n")
            try MigratedJournal.migrateInStages(URL(filePath: arguments[1]))
            return acknowledge("done\n")
        }
        if arguments.count == 3, arguments[2] == "rekey" {
            return try Journal.changeKeys(URL(filePath: arguments[1]), acknowledge: acknowledge)
        }
        if arguments.count == 3, arguments[2] == "commands" {
            return try Bookcase.obey(URL(filePath: arguments[1]), acknowledge: acknowledge)
        }
        if arguments.count == 5, arguments[2] == "exchange", let first = Int(arguments[4]) {
            return try Bookcase.exchange(
                URL(filePath: arguments[1]),
                through: URL(filePath: arguments[3]),
                from: first,
                acknowledge: acknowledge
            )
        }
        if arguments.count == 3, arguments[2] == "following" {
            return try Bookcase.followRepeatedly(URL(filePath: arguments[1]), acknowledge: acknowledge)
        }
        if arguments.count == 4, arguments[2] == "pairs", let first = Int64(arguments[3]) {
            return try Journal.writePairsThroughChanges(
                URL(filePath: arguments[1]),
                from: first,
                acknowledge: acknowledge
            )
        }
        if arguments.count == 4, let operation = JournalMaintenance(rawValue: arguments[2]) {
            acknowledge("begun\n")
            try operation.run(URL(filePath: arguments[1]), to: URL(filePath: arguments[3]))
            return acknowledge("done\n")
        }
        if arguments.count == 4, arguments[2] == "network", let writer = Int64(arguments[3]) {
            return try writeNetwork(URL(filePath: arguments[1]), writer)
        }
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

    private static func writeNetwork(_ store: URL, _ writer: Int64) throws {
        var writer = NetworkWriter(try Network.open(store), writer: writer)
        while true {
            let step = try writer.prepare()
            let lines = NetworkLog.lines(step)
            acknowledge(lines?.before)
            acknowledge(try writer.save(step) ? lines?.after : lines?.failed)
        }
    }

    private static func acknowledge(_ line: String?) {
        if let line { FileHandle.standardOutput.write(Data(line.utf8)) }
    }
}
