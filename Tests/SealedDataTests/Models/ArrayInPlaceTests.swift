import Foundation
import SealedData
import Testing

@Suite("In-place changes of arrays of models") struct ArrayInPlaceTests {
    @Model
    final class Folder {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \File.folder) var files: [File] = []
        @Relationship(inverse: \File.tags) var tagged: [File]?
        var words: [String] = []

        init(name: String) { self.name = name }
    }

    @Model
    final class File {
        var number: Int
        var folder: Folder?
        var tags: [Folder] = []

        init(number: Int) { self.number = number }
    }

    private let container = try! ModelContainer(
        for: Folder.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )

    @Test func `thousands are appended one by one, inverses included`() throws {
        let context = ModelContext(container)
        let folder = Folder(name: "a")
        context.insert(folder)
        let files = (0..<3000).map(File.init)
        for file in files {
            folder.files.append(file)
            #expect(file.folder === folder)
            #expect(folder.files.count == file.number + 1)
        }
        try context.save()
        let other = ModelContext(container)
        let found = try #require(try other.fetch(FetchDescriptor<Folder>()).first)
        #expect(found.files.map(\.number).elementsEqual(0..<3000) == true)
    }

    @Test(arguments: [false, true])
    func `every in-place change equals an assignment`(isSaved: Bool) throws {
        let context = ModelContext(container)
        let folder = Folder(name: "a")
        let other = Folder(name: "b")
        let files = (0..<6).map(File.init)
        if isSaved {
            context.insert(folder)
            context.insert(other)
            for file in files { context.insert(file) }
            try context.save()
        }
        func numbers(_ folder: Folder) -> [Int] { folder.files.map(\.number).sorted() }

        folder.files.append(files[0])
        folder.files += [files[1], files[2]]
        #expect(numbers(folder) == [0, 1, 2])
        folder.files.append(files[1])
        #expect(numbers(folder) == [0, 1, 2])
        folder.files.remove(at: 0)
        #expect(numbers(folder).count == 2)
        folder.files.append(files[0])
        folder.files.removeAll { $0.number == 1 }
        #expect(numbers(folder) == [0, 2])
        #expect(files[1].folder == nil)
        folder.files.insert(files[3], at: 0)
        other.files.append(files[4])
        folder.files.append(files[4])
        #expect(numbers(other) == [])
        #expect(numbers(folder) == [0, 2, 3, 4])
        files[4].folder = other
        folder.files.append(files[5])
        #expect(numbers(folder) == [0, 2, 3, 5])
        #expect(numbers(other) == [4])
        folder.files.swapAt(0, 1)
        #expect(numbers(folder) == [0, 2, 3, 5])
        folder.files.removeAll()
        #expect(files.prefix(4).allSatisfy { $0.folder == nil })
        folder.files.append(files[2])
        #expect(numbers(folder) == [2])
    }

    @Test func `a deleted member stays removed when the array grows`() throws {
        let context = ModelContext(container)
        let folder = Folder(name: "a")
        context.insert(folder)
        let files = (0..<3).map(File.init)
        for file in files { folder.files.append(file) }
        context.delete(files[1])
        folder.files.append(File(number: 3))
        #expect(folder.files.map(\.number) == [0, 2, 3])
        try context.save()
        folder.files.append(File(number: 4))
        #expect(folder.files.map(\.number) == [0, 2, 3, 4])
        context.rollback()
        #expect(folder.files.map(\.number) == [0, 2, 3])
    }

    @Test func `optional arrays and arrays of values`() throws {
        let context = ModelContext(container)
        let folder = Folder(name: "a")
        context.insert(folder)
        let file = File(number: 1)
        folder.tagged?.append(file)
        folder.words.append("x")
        folder.words += ["y"]
        #expect(folder.words == ["x", "y"])
        #expect(folder.tagged?.count == 1)
        #expect(file.tags.map(\.name) == ["a"])
        file.tags.removeAll()
        #expect(folder.tagged?.isEmpty == true)
    }

    @Test func `another array of the same folder is read while one is changed`() throws {
        let context = ModelContext(container)
        let folder = Folder(name: "a")
        context.insert(folder)
        for number in 0..<10 {
            folder.files.append(File(number: number))
            folder.tagged?.append(folder.files[number])
            #expect(folder.tagged?.count == number + 1)
            #expect(folder.files[number].tags.first === folder)
        }
        try context.save()
        #expect(folder.tagged?.map(\.number).sorted() == Array(0..<10))
    }
}
