import Foundation
import ObjectGraph
@testable import SealedData
import Testing
import TestSupport

@Suite("The sections of live results") struct ResultsSectionsTests {
    typealias Station = Live.Station

    private let context: ModelContext

    init() throws { context = ModelContext(try Live.container()) }

    private func observer() throws -> ResultsObserver<Station, String?> {
        try ResultsObserver(sortBy: [SortDescriptor(\.name)], sectionBy: \.line, modelContext: context)
    }

    /// The titles and sizes by grouping a fetch.
    private func groups() throws -> [String] {
        let lines = try context.fetch(
            FetchDescriptor<Station>(sortBy: [SortDescriptor(\.line), SortDescriptor(\.name)])
        )
        .map { $0.line ?? "none" }
        var groups: [(title: String, size: Int)] = []
        for line in lines {
            if groups.last?.title == line {
                groups[groups.count - 1].size += 1
            } else {
                groups.append((line, 1))
            }
        }
        return groups.map { "\($0.title): \($0.size)" }
    }

    private func shown(_ sections: SectionedResults<Station, String?>?) throws -> [String] {
        let sections = try #require(sections)
        return zip(sections.sectionTitles, sections).map { "\($0 ?? "none"): \($1.count)" }
    }

    @Test func `a change of few models among thousands of sections makes no other section anew`() throws {
        for number in 0..<3000 { context.insert(Station("station \(number)", line: "line \(1000 + number)")) }
        try context.save()
        let observer = try observer()
        var sets: [ResultsChanges] = []
        let subscription = observer.onChange { sets.append($0) }
        #expect(observer.layoutCount == 1)
        let models = Array(observer.results)
        models[10].line = "line 2000"
        models[11].line = "a line"
        models[12].platforms = 7
        context.delete(models[13])
        try context.save()
        #expect(observer.layoutCount == 1)
        let changes = try #require(sets.last?.sections)
        #expect(changes.deletions == [10, 11, 13])
        #expect(changes.insertions == [0])
        #expect(changes.newSizes.count == 2998 && changes.newSizes.reduce(0, +) == 2999)
        #expect(try shown(observer.sections) == groups())
        withExtendedLifetime(subscription) {}
    }

    @Test(arguments: SeededGenerator.seeds(10))
    func `sections equal a grouping after random changes, and their changes lead to them`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for number in 0..<30 { context.insert(Station("station \(number)", line: "line \(number % 7)")) }
        try context.save()
        let observer = try observer()
        var titles: [String?] = []
        var sizes: [Int] = []
        let subscription = observer.onChange { set in
            guard let changes = set.sections, let sections = observer.sections else { return }
            #expect(changes.oldSizes == sizes, "\(random)")
            titles = changes.indices.applied(to: titles) { sections.sectionTitles[$0] }
            sizes = changes.newSizes
        }
        for step in 0..<60 {
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let station = random.pick(Array(observer.results))
                let line = random.chance(10) ? nil : "line \(Int.random(in: 0..<12, using: &random))"
                switch Int.random(in: 0..<5, using: &random) {
                case 0: context.insert(Station("new \(step)", line: line))
                case 1: if let station { context.delete(station) }
                case 2: station?.name = "station \(Int.random(in: 0..<100, using: &random))"
                case 3: station?.platforms += 1
                default: station?.line = line
                }
            }
            if random.chance(50) { try context.save() } else { context.processPendingChanges() }
            let expected = try groups()
            #expect(try shown(observer.sections) == expected, "\(random) \(step)")
            #expect(zip(titles, sizes).map { "\($0 ?? "none"): \($1)" } == expected, "\(random) \(step)")
        }
        #expect(observer.layoutCount == 1)
        withExtendedLifetime(subscription) {}
    }

    @Test(arguments: SeededGenerator.seeds(10))
    func `sizes in chunks equal those in an array`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var sizes = SectionSizes()
        var array: [Int] = []
        for step in 0..<500 {
            let position = Int.random(in: 0...array.count, using: &random)
            if array.isEmpty || random.chance(55) {
                let size = Int.random(in: 0..<5, using: &random)
                _ = sizes.insert(size, at: position, chunkSize: 3)
                _ = sizes.split(largerThan: 6, near: position)
                array.insert(size, at: position)
            } else {
                let section = min(position, array.count - 1)
                sizes.change(section, by: -array[section])
                sizes.remove(section)
                array.remove(at: section)
            }
            #expect(sizes.array == array, "\(random) \(step)")
            #expect(sizes.count == array.count && sizes.elementCount == array.reduce(0, +))
            let sections = array.indices.flatMap { section in Array(repeating: section, count: array[section]) }
            #expect(sections.indices.map { sizes.section(containing: $0) } == sections, "\(random) \(step)")
            #expect(array.indices.map { sizes.range(of: $0).count } == array)
        }
    }
}
