import SealedData
import Testing

@Suite("Strict memory safety")
struct StrictMemorySafetyTests {
    @Test(arguments: Compiler.LanguageMode.allCases)
    func `models and their use need no unsafe code`(mode: Compiler.LanguageMode) throws {
        let source = """
            import Foundation
            import SealedData

            @Model public class Place {
                @Attribute(.unique) public var name: String
                let code: Int
                var visits = 0
                var words: [String] = [] { didSet { visits += 1 } }
                @Transient var note = ""
                @Relationship(deleteRule: .cascade, inverse: \\Visit.place) var all: [Visit] = []
                init(name: String, code: Int) { (self.name, self.code) = (name, code) }
            }

            @Model final class Museum: Place {
                var fee: Decimal = 0
                let opened: Date
                init(name: String, opened: Date) {
                    self.opened = opened
                    super.init(name: name, code: 1)
                }
            }

            @Model final class Visit {
                var place: Place?
                var date = Date.now
                init() {}
            }

            @ModelActor actor Reader {
                func count() throws -> Int { try modelContext.fetchCount(FetchDescriptor<Place>()) }
            }

            func use(_ place: Place, _ context: ModelContext) throws {
                place.visits += 1
                place.all.append(Visit())
                let name = place.name
                _ = try context.fetch(FetchDescriptor<Museum>(predicate: #Predicate { $0.name == name && $0.fee > 1 }))
            }
            """
        let found = try Compiler.diagnostics(
            of: source,
            mode: mode,
            options: ["-strict-memory-safety", "-warnings-as-errors"]
        )
        #expect(found == [])
    }
}
