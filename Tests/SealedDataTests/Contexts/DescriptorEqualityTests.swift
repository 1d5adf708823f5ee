import Foundation
import SealedData
import Testing

@Suite("Equality of fetch descriptors") struct DescriptorEqualityTests {
    private func lent(above number: Int) -> FetchDescriptor<Book> {
        FetchDescriptor(
            predicate: #Predicate { $0.isLent && $0.number > number },
            sortBy: [SortDescriptor(\.number)]
        )
    }

    @Test func `are equal`() {
        #expect(lent(above: 3) == lent(above: 3))
        #expect(FetchDescriptor<Book>() == FetchDescriptor<Book>())
    }

    @Test func `differ in the predicate, its values, the order or the limits`() {
        #expect(lent(above: 3) != lent(above: 4))
        #expect(lent(above: 3) != FetchDescriptor(sortBy: [SortDescriptor(\.number)]))
        var other = lent(above: 3)
        other.sortBy = [SortDescriptor(\.number, order: .reverse)]
        #expect(lent(above: 3) != other)
        other = lent(above: 3)
        other.fetchLimit = 1
        #expect(lent(above: 3) != other)
        other = lent(above: 3)
        other.relationshipKeyPathsForPrefetching = [\.shelf]
        #expect(lent(above: 3) != other)
    }

    @Test func `unsupported predicates are compared by their descriptions`() {
        let first = FetchDescriptor<Book>(predicate: #Predicate { $0.number.description == "1" })
        let second = FetchDescriptor<Book>(predicate: #Predicate { $0.number.description == "2" })
        #expect(first == first)
        #expect(first != second)
    }
}
