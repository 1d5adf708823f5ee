import SealedData
import Testing

/// A constant with an initial value. `treatAllWarnings` is off for this target, because the compiler warns of it.
@Model final class Badge {
    let id = UUID().uuidString
    let color: String = "red"
    let number: Int
    var note = ""

    init(number: Int) { self.number = number }
}

@Suite("Constants with an initial value")
struct InitializedConstantTests {
    @Test func `they keep the value of their row`() throws {
        let badge = Badge(number: 3)
        let saved = try Saved(badge)
        #expect(saved.model.id == badge.id)
        #expect((saved.model.color, saved.model.number) == ("red", 3))
        let id = badge.id
        #expect(try saved.context.fetchCount(FetchDescriptor<Badge>(predicate: #Predicate { $0.id == id })) == 1)
    }
}
