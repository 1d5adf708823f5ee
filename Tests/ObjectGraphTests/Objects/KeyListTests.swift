@testable import ObjectGraph
import TestSupport
import Testing

@Suite struct KeyListTests {
    @Test(arguments: SeededGenerator.seeds(4))
    func `random changes agree with an array`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var list = KeyList()
        var expected: [Int64] = []
        var next: Int64 = 1
        for _ in 0..<3000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let isNew = list.append(next)
                #expect(isNew)
                expected.append(next)
                next += 1
            case 5:
                guard let key = random.pick(expected) else { continue }
                let isNew = list.append(key)
                #expect(!isNew)
            case 6:
                guard let key = random.pick(expected), let position = list.remove(key) else { continue }
                if random.chance(50) {
                    list.insert(next, at: position)
                    // The position may no longer exist.
                    expected = Array(list)
                    #expect(expected.contains(next))
                    next += 1
                } else {
                    expected.removeAll { $0 == key }
                }
            case 7:
                let replaced = Set(expected.filter { _ in random.chance(3) })
                list.replace(Array(replaced)) { $0.isMultiple(of: 7) ? 0 : -$0 }
                expected = expected.compactMap { replaced.contains($0) ? ($0.isMultiple(of: 7) ? nil : -$0) : $0 }
            case 8 where random.chance(5):
                list.replace { $0.isMultiple(of: 5) ? 0 : $0 }
                expected.removeAll { $0.isMultiple(of: 5) }
            default:
                let key = Int64.random(in: 1...next, using: &random)
                let isContained = list.contains(key)
                #expect(isContained == expected.contains(key))
            }
            #expect(list.count == expected.count)
        }
        #expect(Array(list) == expected)
        let missing = expected.filter { !list.contains($0) }
        #expect(missing.isEmpty)
    }
}
