import Foundation
import SealedData

@Model
final class PeerItem {
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
}

@Model
final class TenIntegers {
    var i0: Int
    var i1: Int
    var i2: Int
    var i3: Int
    var i4: Int
    var i5: Int
    var i6: Int
    var i7: Int
    var i8: Int
    var i9: Int

    init(_ number: Int) {
        i0 = number
        i1 = number + 1
        i2 = number + 2
        i3 = number + 3
        i4 = number + 4
        i5 = number + 5
        i6 = number + 6
        i7 = number + 7
        i8 = number + 8
        i9 = number + 9
    }
}

/// Live objects: identity-mapped, observable, ready to be changed.
struct SealedParticipant: Participant {
    let name = "SealedData"

    private func open(_ file: URL) throws -> ModelContainer {
        try ModelContainer(
            for: PeerItem.self,
            TenIntegers.self,
            configurations: ModelConfiguration(url: file, key: .raw(key))
        )
    }

    func insertItems(_ count: Int, into file: URL) throws -> UInt64 {
        let container = try open(file)
        return try nanoseconds {
            let context = ModelContext(container)
            for number in 0..<count { context.insert(PeerItem(ItemValues(number: number))) }
            try context.save()
        }
    }

    func fetchItems(from file: URL) throws -> UInt64 {
        let context = ModelContext(try open(file))
        return try nanoseconds {
            let items = try context.fetch(FetchDescriptor<PeerItem>())
            try expect(items.last?.number == items.count - 1)
        }
    }

    func changeItems(of file: URL) throws -> UInt64 {
        let context = ModelContext(try open(file))
        return try nanoseconds {
            for item in try context.fetch(FetchDescriptor<PeerItem>()) { item.isMarked.toggle() }
            try context.save()
        }
    }

    func insertIntegers(_ count: Int, into file: URL) throws -> UInt64 {
        let container = try open(file)
        return try nanoseconds {
            let context = ModelContext(container)
            for number in 0..<count { context.insert(TenIntegers(number)) }
            try context.save()
        }
    }

    func fetchIntegers(from file: URL) throws -> UInt64 {
        let context = ModelContext(try open(file))
        return try nanoseconds {
            var sum = 0
            for row in try context.fetch(FetchDescriptor<TenIntegers>()) {
                sum &+= row.i0 &+ row.i1 &+ row.i2 &+ row.i3 &+ row.i4 &+ row.i5 &+ row.i6 &+ row.i7 &+ row.i8 &+ row.i9
            }
            try expect(sum > 0)
        }
    }
}
