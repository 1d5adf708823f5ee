import Foundation
@testable import ObjectGraph
@testable import SealedData
import TestSupport
import Testing

/// Properties of type `Duration`, which have a column of nanoseconds.
@Suite struct DurationTests {
    @Model final class Song {
        var title: String
        var length: Duration
        var pause: Duration?
        var marks: [Duration] = []

        init(_ title: String, _ length: Duration, pause: Duration? = nil) {
            self.title = title
            self.length = length
            self.pause = pause
            marks = [length, .seconds(1.1)]
        }
    }

    private let folder = TemporaryFolder()
    private let context: ModelContext

    init() throws {
        let configuration = ModelConfiguration(url: folder.file("songs"), key: .ofTests)
        context = ModelContext(try ModelContainer(for: Song.self, configurations: configuration))
        context.insert(Song("b", .seconds(90)))
        context.insert(Song("a", .milliseconds(1_500), pause: .seconds(-1)))
        context.insert(Song("c", .nanoseconds(Int64.max), pause: .nanoseconds(1)))
    }

    /// The titles that a descriptor finds, before and after a save.
    private func titles(_ descriptor: FetchDescriptor<Song>) throws -> [String] {
        let unsaved = try context.fetch(descriptor).map(\.title)
        try context.save()
        #expect(try context.fetch(descriptor).map(\.title) == unsaved)
        return unsaved
    }

    @Test func `durations are sorted and compared`() throws {
        #expect(try titles(FetchDescriptor(sortBy: [SortDescriptor(\.length)])) == ["a", "b", "c"])
        #expect(try titles(FetchDescriptor(sortBy: [SortDescriptor(\.pause)])) == ["b", "a", "c"])
        let (minute, longer) = (Duration.seconds(60), Duration.seconds(90))
        #expect(try titles(FetchDescriptor(predicate: #Predicate { $0.length < minute })) == ["a"])
        #expect(try titles(FetchDescriptor(predicate: #Predicate { $0.length == longer })) == ["b"])
        let durations = [minute, longer]
        #expect(try titles(FetchDescriptor(predicate: #Predicate { durations.contains($0.length) })) == ["b"])
        #expect(try titles(FetchDescriptor(predicate: #Predicate { $0.pause == nil })) == ["b"])
    }

    @Test func `durations in JSON text are equal, but have no order`() throws {
        let (longer, fraction) = (Duration.seconds(90), Duration.seconds(1.1))
        #expect(try titles(FetchDescriptor(predicate: #Predicate { $0.marks.contains(longer) })) == ["b"])
        #expect(try titles(FetchDescriptor(predicate: #Predicate { $0.marks.contains(fraction) })).count == 3)
        #expect(throws: SwiftDataError.self) {
            try context.fetch(FetchDescriptor<Song>(predicate: #Predicate { $0.marks.contains { $0 < longer } }))
        }
        #expect(throws: SwiftDataError.self) {
            try context.fetch(FetchDescriptor<Song>(predicate: #Predicate { $0.marks.max()! < longer }))
        }
    }

    @Test func `durations are aggregated, before and after a save`() throws {
        let limit = Duration.seconds(1_000)
        let short = #Predicate<Song> { $0.length < limit }
        for _ in 0..<2 {
            let (sum, average, longest) = try context.aggregate(
                Song.self,
                .sum(\.length),
                .average(\.length),
                .maximum(\.length),
                where: short
            )
            #expect(sum == .milliseconds(91_500) && average == .milliseconds(45_750) && longest == .seconds(90))
            #expect(try context.aggregate(Song.self, .average(\.pause)) == .milliseconds(-500))
            #expect(throws: (any Error).self) { try context.aggregate(Song.self, .sum(\.length)) }
            try context.save()
        }
    }

    @Test func `a duration that a column does not hold stays readable, and a save refuses it by name`() throws {
        try context.save()
        let song = try #require(
            try context.fetch(FetchDescriptor<Song>(predicate: #Predicate { $0.title == "b" })).first
        )
        song.length = .seconds(1.1)
        #expect(song.length == .seconds(1.1))
        let error = #expect(throws: ObjectGraphError.self) { try context.save() }
        #expect("\(error.map { "\($0)" } ?? "")".contains("length"))
        let exact = Duration.milliseconds(1_100)
        song.length = exact
        song.pause = .seconds(Int64.max)
        #expect(song.pause == .seconds(Int64.max))
        #expect(throws: ObjectGraphError.self) { try context.save() }
        song.pause = nil
        try context.save()
        #expect(try titles(FetchDescriptor(predicate: #Predicate { $0.length == exact })) == ["b"])
        let refused = Song("d", .seconds(Int64.min))
        context.insert(refused)
        #expect(refused.length == .seconds(Int64.min))
        #expect(throws: ObjectGraphError.self) { try context.save() }
    }

    @Test func `a predicate with a duration that no column holds is refused by the name of the type`() throws {
        let tenth = Duration.seconds(1.1)
        let error = #expect(throws: SwiftDataError.self) {
            try context.fetch(FetchDescriptor<Song>(predicate: #Predicate { $0.length < tenth }))
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("Duration"))
    }

    // MARK: Stores of earlier versions

    enum Earlier {
        /// A duration that is stored as JSON text, as `Duration` was.
        struct Text: Codable {
            var duration: Duration

            init(_ duration: Duration) { self.duration = duration }
            init(from decoder: any Decoder) throws { duration = try Duration(from: decoder) }
            func encode(to encoder: any Encoder) throws { try duration.encode(to: encoder) }
        }

        @Model final class Lap {
            var time: Text
            init(_ time: Duration) { self.time = Text(time) }
        }
    }

    enum Present {
        @Model final class Lap {
            var time: Duration
            init(_ time: Duration) { self.time = time }
        }
    }

    @Test(arguments: [true, false])
    func `a store that has durations as JSON text is migrated exactly, or refused`(_ isExact: Bool) throws {
        let durations: [Duration] = [.seconds(1.5), .nanoseconds(-1), isExact ? .zero : .seconds(1.1)]
        let configuration = ModelConfiguration(url: folder.file("laps"), key: .ofTests)
        do {
            let context = ModelContext(try ModelContainer(for: Earlier.Lap.self, configurations: configuration))
            for duration in durations { context.insert(Earlier.Lap(duration)) }
            try context.save()
        }
        guard isExact else {
            let error = #expect(throws: SwiftDataError.self) {
                try ModelContainer(for: Present.Lap.self, configurations: configuration)
            }
            #expect("\(error.map { "\($0)" } ?? "")".contains("time"))
            return
        }
        let context = ModelContext(try ModelContainer(for: Present.Lap.self, configurations: configuration))
        let laps = try context.fetch(FetchDescriptor<Present.Lap>(sortBy: [SortDescriptor(\.time)]))
        #expect(laps.map(\.time) == durations.sorted())
        #expect(try context.storeProblems() == [])
    }
}

/// What the compiler does not ask of a new column type.
@Suite struct ColumnTypeTests {
    @Test(arguments: AttributeType.allCases)
    func `values of a column type can be aggregated`(_ type: AttributeType) {
        guard let swiftType = type.facts.swiftType else { return }
        #expect(swiftType is any AggregatedValue.Type)
        #expect((swiftType is any SummedValue.Type) == (type.isNumber || type.isSummable && type.sumType == type))
        #expect((swiftType is any AveragedValue.Type) == (type.isNumber || type.averageType == type))
    }
}
