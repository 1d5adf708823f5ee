@testable import ObjectGraph
import Testing

@Suite struct IndexChangesTests {
    /// The difference between two lists of different numbers.
    private func changes(from old: [Int], to new: [Int]) -> IndexChanges {
        let oldPositions = Dictionary(uniqueKeysWithValues: old.enumerated().map { ($1, $0) })
        let newPositions = Dictionary(uniqueKeysWithValues: new.enumerated().map { ($1, $0) })
        return IndexChanges(
            Set(old + new).map { IndexChanges.Difference(old: oldPositions[$0], new: newPositions[$0]) }
        )
    }

    private func randomList(_ generator: inout SeededGenerator) -> [Int] {
        Array((0..<12).filter { _ in generator.chance(60) }.shuffled(using: &generator))
    }

    @Test(arguments: SeededGenerator.seeds(200))
    func `a difference turns the old list into the new one`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let (old, new) = (randomList(&generator), randomList(&generator))
        #expect(changes(from: old, to: new).applied(to: old) { new[$0] } == new, "\(generator)")
    }

    @Test(arguments: SeededGenerator.seeds(200))
    func `a composition of differences has the effect of both`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var list = randomList(&generator)
        let first = list
        var composed = IndexChanges()
        for _ in 0..<4 {
            let next = randomList(&generator)
            composed = composed.followed(by: changes(from: list, to: next))
            list = next
            #expect(composed.applied(to: first) { list[$0] } == list, "\(generator)")
            #expect(composed.deletions.count <= first.count && composed.insertions.count <= list.count)
        }
    }

    @Test func `the elements that stay are as many as possible`() {
        let changes = changes(from: [1, 2, 3, 4, 5], to: [5, 1, 2, 3, 4])
        #expect(changes == IndexChanges(moves: [.init(from: 4, to: 0)]))
    }

    @Test func `positions are translated in both directions`() {
        let positions = IndexChanges.Positions(changes(from: [1, 2, 3, 4], to: [4, 9, 1, 3]))
        #expect((0..<4).map(positions.new) == [2, nil, 3, 0])
        #expect((0..<4).map(positions.old) == [3, nil, 0, 2])
    }
}
