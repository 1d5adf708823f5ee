import Foundation
import SealedData
import Testing

@Suite("Predicates that a store cannot evaluate")
struct InMemoryEvaluationTests {
    typealias Item = Stock.Item

    private let context: ModelContext

    init() throws {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        context = ModelContext(try ModelContainer(for: Item.self, configurations: configuration))
        for number in 0..<5 {
            let item = Item(uuid: UUID())
            item.int = number
            item.tags = (0..<number).map { "\($0)" }
            context.insert(item)
        }
        try context.save()
    }

    private var descriptor: FetchDescriptor<Item> {
        FetchDescriptor<Item>(
            predicate: #Predicate { $0.tags.count > 1 && $0.int.nonzeroBitCount == 1 },
            sortBy: [SortDescriptor(\.int, order: .reverse)]
        )
    }

    @Test func `are refused`() {
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetch(descriptor) }
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetchCount(descriptor) }
    }

    @Test func `are evaluated in memory if that is allowed`() throws {
        var descriptor = descriptor
        descriptor.allowsInMemoryEvaluation = true
        #expect(try context.fetch(descriptor).map(\.int) == [4, 2])
        #expect(try context.fetchCount(descriptor) == 2)
        #expect(try context.fetchIdentifiers(descriptor).count == 2)
        #expect(try context.fetch(descriptor, batchSize: 1).map(\.int) == [4, 2])
        descriptor.fetchOffset = 1
        #expect(try context.fetch(descriptor).map(\.int) == [2])
        var numbers: [Int] = []
        try context.enumerate(descriptor) { numbers.append($0.int) }
        #expect(numbers == [2])
    }
}
