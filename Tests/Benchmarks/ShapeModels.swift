import Foundation
import SealedData

/// The attributes of ``Item``, three of them with an index.
@Model
final class Event {
    #Index<Event>([\.number], [\.name], [\.date])

    var number: Int
    var weight: Double
    var name: String
    var note: String
    var date: Date
    var isMarked: Bool

    init(number: Int) {
        self.number = number
        weight = Double(number) * 0.5
        // The indexes are filled in another order than the table.
        name = "Name number \(number &* 7919 % 1_000_003)"
        note = "A somewhat longer note for item \(number)"
        date = Date(timeIntervalSinceReferenceDate: Double(number &* 104_729 % 1_000_003))
        isMarked = number % 2 == 1
    }
}

/// Ten integers.
@Model
final class Measurement {
    var a: Int
    var b: Int
    var c: Int
    var d: Int
    var e: Int
    var f: Int
    var g: Int
    var h: Int
    var i: Int
    var j: Int

    init(number: Int) {
        (a, b, c, d, e) = (number, number + 1, number + 2, number + 3, number + 4)
        (f, g, h, i, j) = (number + 5, number + 6, number + 7, number + 8, number + 9)
    }
}

/// An integer and 100 bytes.
@Model
final class Packet {
    var number: Int
    var content: Data

    init(number: Int) {
        self.number = number
        content = Packet.content(number)
    }

    static func content(_ number: Int) -> Data { Data(repeating: UInt8(truncatingIfNeeded: number), count: 100) }
}

/// One of many articles of many tags.
@Model
final class Article {
    var title: String
    @Relationship(inverse: \Tag.articles) var tags: [Tag] = []

    init(number: Int) {
        title = "Article \(number)"
    }
}

/// One of many tags of many articles.
@Model
final class Tag {
    var number: Int
    var articles: [Article] = []

    init(number: Int) {
        self.number = number
    }
}

/// Ten integers as a plain struct, for handwritten code.
struct MeasurementRow {
    var id: Int64
    var a, b, c, d, e, f, g, h, i, j: Int

    var sum: Int { a &+ b &+ c &+ d &+ e &+ f &+ g &+ h &+ i &+ j }
}

/// An integer and bytes as a plain struct.
struct PacketRow {
    var id: Int64
    var number: Int
    var content: Data
}

/// An article as a plain struct, with its tags.
struct ArticleRow {
    var id: Int64
    var title: String
    var tags: [TagRow] = []
}

/// A tag as a plain struct.
struct TagRow {
    var id: Int64
    var number: Int
}
