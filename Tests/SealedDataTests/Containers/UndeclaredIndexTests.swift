import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedData
import TestSupport
import Testing

/// Two versions of a program. The second declares fewer indexes.
@Suite struct UndeclaredIndexTests {
    enum First {
        @Model final class Note {
            #Index<Note>([\.text], [\.year])

            var text: String
            var year: Int

            init(text: String, year: Int) {
                self.text = text
                self.year = year
            }
        }
    }

    enum Second {
        @Model final class Note {
            #Index<Note>([\.year])

            var text: String
            var year: Int

            init(text: String, year: Int) {
                self.text = text
                self.year = year
            }
        }
    }

    private let folder = TemporaryFolder()

    private func open(_ type: any PersistentModel.Type) throws -> ModelContainer {
        try ModelContainer(
            for: type,
            configurations: ModelConfiguration(url: folder.file("notes"), key: .ofTests)
        )
    }

    private func textPlan(_ container: ModelContainer) throws -> [String] {
        try FetchDescriptor<Second.Note>(predicate: #Predicate { $0.text == "a" })
            .explain(in: ModelContext(container)).indexes
    }

    private func yearPlan(_ container: ModelContainer) throws -> [String] {
        try FetchDescriptor<Second.Note>(predicate: #Predicate { $0.year == 1 })
            .explain(in: ModelContext(container)).indexes
    }

    @Test func `a container removes undeclared indexes on request`() throws {
        let first = ModelContext(try open(First.Note.self))
        first.insert(First.Note(text: "a", year: 1))
        try first.save()
        let container = try open(Second.Note.self)
        #expect(try textPlan(container) == ["_index_Note_text"])
        try container.removeUndeclaredIndexes()
        #expect(try textPlan(container) == [])
        #expect(try yearPlan(container) == ["_index_Note_year"])
        // The other container is usable afterwards.
        #expect(try first.fetch(FetchDescriptor<First.Note>(predicate: #Predicate { $0.text == "a" })).count == 1)
        first.insert(First.Note(text: "a", year: 2))
        try first.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Second.Note>()) == 2)
    }
}
