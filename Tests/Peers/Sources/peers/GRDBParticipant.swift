import Foundation
import GRDB

/// Structs with handwritten conversions from and to rows.
private struct ItemRecord: FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "item"

    var id: Int64?
    var number: Int
    var weight: Double
    var name: String
    var note: String
    var date: Double
    var isMarked: Bool

    init(_ values: ItemValues) {
        number = values.number
        weight = values.weight
        name = values.name
        note = values.note
        date = values.date
        isMarked = values.isMarked
    }

    init(row: Row) {
        id = row["id"]
        number = row["number"]
        weight = row["weight"]
        name = row["name"]
        note = row["note"]
        date = row["date"]
        isMarked = row["isMarked"]
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["number"] = number
        container["weight"] = weight
        container["name"] = name
        container["note"] = note
        container["date"] = date
        container["isMarked"] = isMarked
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// The same with `Codable`.
private struct CodableItem: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "item"

    var id: Int64?
    var number: Int
    var weight: Double
    var name: String
    var note: String
    var date: Double
    var isMarked: Bool

    init(_ values: ItemValues) {
        number = values.number
        weight = values.weight
        name = values.name
        note = values.note
        date = values.date
        isMarked = values.isMarked
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

private struct IntegersRecord: FetchableRecord, PersistableRecord {
    static let databaseTableName = "integers"

    var i: [Int]

    init(_ number: Int) { i = (0..<10).map { number + $0 } }

    init(row: Row) {
        i = [row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9]]
    }

    func encode(to container: inout PersistenceContainer) {
        for (index, value) in i.enumerated() { container["i\(index)"] = value }
    }
}

private struct CodableIntegers: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "integers"

    var i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int

    init(_ number: Int) {
        (i0, i1, i2, i3, i4) = (number, number + 1, number + 2, number + 3, number + 4)
        (i5, i6, i7, i8, i9) = (number + 5, number + 6, number + 7, number + 8, number + 9)
    }
}

/// GRDB on the same library, with the same key.
struct GRDBParticipant: Participant {
    /// The form of the rows.
    enum Style: String {
        case records, codable = "Codable"
        /// Rows whose columns are read by name, and by index; they write records.
        case byName = "by name"
        case byIndex = "by index"
    }

    let style: Style
    var name: String { "GRDB \(style.rawValue)" }

    private func open(_ file: URL) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA key = \"\(keySpecification)\"")
            try database.execute(sql: "PRAGMA cache_size = -65536")
        }
        let pool = try DatabasePool(path: file.path, configuration: configuration)
        try pool.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, number INTEGER NOT NULL, weight REAL NOT NULL,
                    name TEXT NOT NULL, note TEXT NOT NULL, date REAL NOT NULL, isMarked INTEGER NOT NULL);
                    CREATE TABLE IF NOT EXISTS integers (i0 INTEGER, i1 INTEGER, i2 INTEGER, i3 INTEGER, i4 INTEGER,
                    i5 INTEGER, i6 INTEGER, i7 INTEGER, i8 INTEGER, i9 INTEGER)
                    """
            )
        }
        return pool
    }

    func insertItems(_ count: Int, into file: URL) throws -> UInt64 {
        let pool = try open(file)
        return try nanoseconds {
            try pool.write { database in
                for number in 0..<count {
                    let values = ItemValues(number: number)
                    if style == .codable {
                        var item = CodableItem(values)
                        try item.insert(database)
                    } else {
                        var item = ItemRecord(values)
                        try item.insert(database)
                    }
                }
            }
        }
    }

    func fetchItems(from file: URL) throws -> UInt64 {
        let pool = try open(file)
        return try nanoseconds {
            try pool.read { database in
                switch style {
                case .codable:
                    let items = try CodableItem.fetchAll(database)
                    try expect(items.last?.number == items.count - 1)
                case .records:
                    let items = try ItemRecord.fetchAll(database)
                    try expect(items.last?.number == items.count - 1)
                case .byName:
                    var length = 0
                    let rows = try Row.fetchCursor(database, sql: "SELECT * FROM item")
                    while let row = try rows.next() {
                        let (number, weight, date): (Int, Double, Double) = (row["number"], row["weight"], row["date"])
                        let (name, note, isMarked): (String, String, Bool) = (row["name"], row["note"], row["isMarked"])
                        length &+=
                            number &+ Int(weight + date) &+ name.utf8.count &+ note.utf8.count &+ (isMarked ? 1 : 0)
                    }
                    try expect(length > 0)
                case .byIndex:
                    var length = 0
                    let rows = try Row.fetchCursor(database, sql: "SELECT * FROM item")
                    while let row = try rows.next() {
                        let (number, weight, date): (Int, Double, Double) = (row[1], row[2], row[5])
                        let (name, note, isMarked): (String, String, Bool) = (row[3], row[4], row[6])
                        length &+=
                            number &+ Int(weight + date) &+ name.utf8.count &+ note.utf8.count &+ (isMarked ? 1 : 0)
                    }
                    try expect(length > 0)
                }
            }
        }
    }

    func changeItems(of file: URL) throws -> UInt64 {
        let pool = try open(file)
        return try nanoseconds {
            try pool.write { database in
                if style == .codable {
                    for var item in try CodableItem.fetchAll(database) {
                        try item.updateChanges(database) { $0.isMarked.toggle() }
                    }
                } else {
                    for var item in try ItemRecord.fetchAll(database) {
                        try item.updateChanges(database) { $0.isMarked.toggle() }
                    }
                }
            }
        }
    }

    func insertIntegers(_ count: Int, into file: URL) throws -> UInt64 {
        let pool = try open(file)
        return try nanoseconds {
            try pool.write { database in
                for number in 0..<count {
                    if style == .codable {
                        try CodableIntegers(number).insert(database)
                    } else {
                        try IntegersRecord(number).insert(database)
                    }
                }
            }
        }
    }

    func fetchIntegers(from file: URL) throws -> UInt64 {
        let pool = try open(file)
        return try nanoseconds {
            try pool.read { database in
                var sum = 0
                switch style {
                case .codable:
                    for row in try CodableIntegers.fetchAll(database) {
                        sum &+= row.i0 &+ row.i1 &+ row.i2 &+ row.i3 &+ row.i4
                        sum &+= row.i5 &+ row.i6 &+ row.i7 &+ row.i8 &+ row.i9
                    }
                case .records:
                    for row in try IntegersRecord.fetchAll(database) { sum &+= row.i.reduce(0, &+) }
                case .byName:
                    let rows = try Row.fetchCursor(database, sql: "SELECT * FROM integers")
                    let names = (0..<10).map { "i\($0)" }
                    while let row = try rows.next() {
                        for name in names { sum &+= row[name] as Int }
                    }
                case .byIndex:
                    let rows = try Row.fetchCursor(database, sql: "SELECT * FROM integers")
                    while let row = try rows.next() {
                        for index in 0..<10 { sum &+= row[index] as Int }
                    }
                }
                try expect(sum > 0)
            }
        }
    }
}
