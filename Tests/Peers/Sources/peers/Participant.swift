import Foundation

/// One way to store rows, with the measured operations.
protocol Participant {
    /// The title of its column.
    var name: String { get }

    /// Writes items to a new file, in one transaction.
    func insertItems(_ count: Int, into file: URL) throws -> UInt64
    /// Reads all items of a file.
    func fetchItems(from file: URL) throws -> UInt64
    /// Changes one property of all items of a file, in one transaction.
    func changeItems(of file: URL) throws -> UInt64
    /// Writes rows of ten integers to a new file, in one transaction.
    func insertIntegers(_ count: Int, into file: URL) throws -> UInt64
    /// Reads all rows of ten integers of a file.
    func fetchIntegers(from file: URL) throws -> UInt64
}

/// The values of the item with a number.
struct ItemValues {
    let number: Int
    var weight: Double { Double(number) * 0.5 }
    var name: String { "Name number \(number)" }
    var note: String { "A somewhat longer note for item \(number)" }
    var date: Double { Double(number) }
    var isMarked: Bool { number % 2 == 1 }
}

/// The key of all files.
let key = (0..<32).map { UInt8($0) }
let keySpecification = "x'" + key.map { String(format: "%02x", $0) }.joined() + "'"

/// The error of a participant that reads other values than it wrote.
struct WrongResult: Error {}

/// Checks the values that were read, so that no participant skips any.
func expect(_ condition: Bool) throws {
    if !condition { throw WrongResult() }
}

/// The nanoseconds that `body` takes.
func nanoseconds(_ body: () throws -> Void) rethrows -> UInt64 {
    let start = DispatchTime.now().uptimeNanoseconds
    try body()
    return DispatchTime.now().uptimeNanoseconds - start
}
