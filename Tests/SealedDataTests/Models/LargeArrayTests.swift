import Foundation
import SealedData
import TestSupport
import Testing

@Suite("Arrays of many models") struct LargeArrayTests {
    typealias Folder = ArrayInPlaceTests.Folder
    typealias File = ArrayInPlaceTests.File

    private let folder = TemporaryFolder()
    private let container: ModelContainer

    init() throws {
        container = try ModelContainer(
            for: Folder.self,
            configurations: ModelConfiguration(url: folder.file("files"), key: .ofTests)
        )
    }

    /// The folder of each file, by number; nil for a file in no folder.
    private typealias Expected = [Int: String?]

    /// One context whose folders are changed in all ways in which a program changes arrays.
    private struct Session {
        let context: ModelContext
        let folders: [Folder]
        var expected: Expected
        var saved: Expected
        var nextNumber: Int

        func file(_ number: Int) throws -> File {
            try #require(try context.fetch(FetchDescriptor<File>(predicate: #Predicate { $0.number == number })).first)
        }

        mutating func new(in name: String) -> File {
            defer { nextNumber += 1 }
            expected[nextNumber] = name
            return File(number: nextNumber)
        }

        mutating func remove(_ files: some Sequence<File>) {
            for file in files { expected[file.number] = .some(nil) }
        }

        /// Changes the array of a folder, or its files, once.
        mutating func change(_ random: inout SeededGenerator) throws {
            let folder = folders[Int.random(in: 0..<2, using: &random)]
            let name = folder.name
            let count = folder.files.count
            switch Int.random(in: 0..<16, using: &random) {
            case 0: folder.files.append(new(in: name))
            case 1: folder.files += [new(in: name), new(in: name)]
            case 2: folder.files.insert(new(in: name), at: Int.random(in: 0...count, using: &random))
            case 3 where count > 0: remove([folder.files.removeLast()])
            case 4 where count > 0: remove([folder.files.remove(at: Int.random(in: 0..<count, using: &random))])
            case 5:
                let divisor = Int.random(in: 5..<90, using: &random)
                remove(folder.files.filter { $0.number.isMultiple(of: divisor) })
                folder.files.removeAll { $0.number.isMultiple(of: divisor) }
            case 6 where count > 1: folder.files.swapAt(0, count - 1)
            case 7: folder.files.sort { $0.number > $1.number }
            case 8:
                let dropped = Int.random(in: 0..<3, using: &random)
                remove(folder.files.suffix(dropped))
                folder.files = folder.files.dropLast(dropped)
            case 9:
                let other = folders.first { $0 !== folder }
                if let moved = other?.files.last {
                    folder.files.append(moved)
                    expected[moved.number] = name
                }
            case 10 where count > 2: folder.files.replaceSubrange(1..<2, with: [folder.files[1], new(in: name)])
            case 11:
                if let number = random.pick(expected.keys.sorted()) {
                    try file(number).folder = folder
                    expected[number] = name
                }
            case 12:
                if let file = folder.files.first {
                    expected[file.number] = nil
                    context.delete(file)
                }
            case 13:
                // Twice the same one counts once.
                if let first = folder.files.first { folder.files.append(first) }
            case 14:
                try context.save()
                saved = expected
            default:
                if random.chance(30) {
                    context.rollback()
                    expected = saved
                }
            }
        }

        func verify() throws {
            for folder in folders {
                let numbers = expected.filter { $0.value == folder.name }.keys.sorted()
                #expect(folder.files.map(\.number).sorted() == numbers)
                #expect(folder.files.allSatisfy { $0.folder === folder })
                #expect(folder.files.count == numbers.count)
            }
        }
    }

    @Test(arguments: SeededGenerator.seeds(3))
    func `random changes of arrays agree with a dictionary, also for other contexts`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let context = ModelContext(container)
        let folders = ["a", "b"].map(Folder.init)
        for folder in folders { context.insert(folder) }
        var session = Session(context: context, folders: folders, expected: [:], saved: [:], nextNumber: 0)
        for folder in folders { folder.files = (0..<200).map { _ in session.new(in: folder.name) } }
        try context.save()
        session.saved = session.expected
        for step in 0..<300 {
            try session.change(&random)
            if step.isMultiple(of: 5) { try session.verify() }
            if step.isMultiple(of: 60) {
                try context.save()
                session.saved = session.expected
                try moveInAnotherContext(&session, &random)
            }
        }
        try context.save()
        try session.verify()
        let other = ModelContext(container)
        for folder in try other.fetch(FetchDescriptor<Folder>()) {
            let numbers = session.expected.filter { $0.value == folder.name }.keys.sorted()
            #expect(folder.files.map(\.number).sorted() == numbers)
        }
        #expect(try container.check().problems.isEmpty)
    }

    /// Moves files to another folder in a second context, whose save the session's context merges.
    private func moveInAnotherContext(_ session: inout Session, _ random: inout SeededGenerator) throws {
        let context = ModelContext(container)
        let folders = try context.fetch(FetchDescriptor<Folder>(sortBy: [SortDescriptor(\.name)]))
        let target = folders[Int.random(in: 0..<2, using: &random)]
        for file in try context.fetch(FetchDescriptor<File>()) where random.chance(5) {
            file.folder = target
            session.expected[file.number] = target.name
        }
        try context.save()
        session.saved = session.expected
        _ = try session.context.fetchCount(FetchDescriptor<Folder>())
    }

    @Test func `an array that was read does not keep its models alive`() throws {
        let context = ModelContext(container)
        let folder = Folder(name: "a")
        context.insert(folder)
        folder.files = (0..<500).map(File.init)
        try context.save()
        let other = ModelContext(container)
        let found = try #require(try other.fetch(FetchDescriptor<Folder>()).first)
        weak var file: File?
        file = found.files.last
        #expect(file === found.files.last)
        #expect(found.files.count == 500)
        // Objects without references are released when many others are registered.
        _ = try (0..<3).map { _ in try other.fetch(FetchDescriptor<File>()).count }
        for number in 1000..<6000 { context.insert(File(number: number)) }
        try context.save()
        _ = try other.fetch(FetchDescriptor<File>(predicate: #Predicate { $0.number >= 1000 })).count
        _ = try other.fetch(FetchDescriptor<File>(predicate: #Predicate { $0.number >= 1000 })).count
        #expect(file == nil)
        #expect(found.files.map(\.number) == Array(0..<500))
    }

    @Test func `an array that changes in place has no other reference, and its change may contain another one`() throws
    {
        let context = ModelContext(container)
        let folder = Folder(name: "a")
        context.insert(folder)
        folder.files = (0..<200).map(File.init)
        var copy = folder.files
        copy.removeAll { $0.number > 2 }
        #expect(folder.files.count == 200)
        folder.files.removeAll { file in
            // Overwritten by the change that contains it, as in a property of an array.
            if file.number == 5 { folder.files.append(File(number: 1000)) }
            return file.number >= 100 && file.number < 1000
        }
        #expect(folder.files.map(\.number) == Array(0..<100))
        #expect(copy.count == 3)
        try context.save()
        #expect(try container.check().problems.isEmpty)
    }
}
