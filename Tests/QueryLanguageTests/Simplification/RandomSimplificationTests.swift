import QueryLanguage
import TestSupport
import Testing

/// Random conditions that are built with the simplifications have the same value as without them.
///
/// The seed is new in each run; `SEED=N swift test --filter RandomSimplificationTests` repeats one.
@Suite struct RandomSimplificationTests {
    @Test func `a simplified condition has the same value`() throws {
        var random = RandomCondition(SeededGenerator())
        print(random.generator)
        let things = SampleThing.samples()
        for _ in 0..<5_000 {
            let condition = random.condition(depth: 0, variables: ["Thing"])
            let simplified = condition.simplified
            for thing in things {
                let expected = try condition.isTrue(for: thing)
                #expect(try simplified.isTrue(for: thing) == expected, "\(condition) as \(simplified)")
                if try simplified.isTrue(for: thing) != expected { return }
            }
        }
    }
}

extension QueryExpression {
    /// The condition, built again with the simplifications.
    fileprivate var simplified: QueryExpression {
        switch mapOperands({ $0.simplified }) {
        case .and(let parts): .conjunction(parts.map(\.asCondition))
        case .or(let parts): .disjunction(parts.map(\.asCondition))
        case .not(let part): .negation(part.asCondition)
        case .comparison(let comparison, let left, let right): .comparing(comparison, left, right)
        case .coalesce(let parts): parts.dropFirst().reduce(parts[0], QueryExpression.coalescing)
        case .quantified(let quantifier, let source, let variable, let condition):
            .quantifying(quantifier, source, variable: variable, condition: condition.asCondition)
        case .conditional(let test, let first, let second): .conditional(test.asCondition, first, second)
        case let other: other
        }
    }
}

private struct RandomCondition {
    var generator: SeededGenerator

    init(_ generator: SeededGenerator) { self.generator = generator }

    private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    mutating func condition(depth: Int, variables: [String]) -> QueryExpression {
        switch depth < 4 ? pick(11) : pick(4) {
        case 0...2: return comparison(depth, variables)
        case 3: return .isMember(value(depth + 1, variables), of: [.null, 0, 1, 2].filter { _ in pick(2) == 0 })
        case 4, 5: return .and((0..<pick(4)).map { _ in condition(depth: depth + 1, variables: variables) })
        case 6, 7: return .or((0..<pick(4)).map { _ in condition(depth: depth + 1, variables: variables) })
        case 8: return .not(condition(depth: depth + 1, variables: variables))
        case 9:
            return .conditional(
                condition(depth: depth + 1, variables: variables),
                condition(depth: depth + 1, variables: variables),
                condition(depth: depth + 1, variables: variables)
            )
        default:
            guard let (source, entity) = source(variables) else { return .bool(pick(2) == 0) }
            let inner = condition(depth: depth + 1, variables: variables + [entity])
            return .quantified(pick(2) == 0 ? .any : .all, source, variable: variables.count, condition: inner)
        }
    }

    private mutating func comparison(_ depth: Int, _ variables: [String]) -> QueryExpression {
        let comparisons: [QueryExpression.Comparison] = [
            .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
        ]
        return .comparison(comparisons[pick(6)], value(depth + 1, variables), value(depth + 1, variables))
    }

    private mutating func value(_ depth: Int, _ variables: [String]) -> QueryExpression {
        switch depth < 4 ? pick(9) : pick(5) {
        case 0: return .literal([.null, 0, 1, 2][pick(4)])
        case 1: return .literal(.real([Double.nan, 0, 1.5][pick(3)]))
        case 2...4: return path(variables)
        case 5: return .coalesce([value(depth + 1, variables), value(depth + 1, variables)])
        case 6:
            let test = condition(depth: depth + 1, variables: variables)
            return .conditional(test, value(depth + 1, variables), pick(2) == 0 ? .literal(.null) : path(variables))
        case 7: return condition(depth: depth + 1, variables: variables)
        default:
            guard let (source, entity) = source(variables) else { return path(variables) }
            let inner = condition(depth: depth + 1, variables: variables + [entity])
            return .count(source, variable: variables.count, condition: inner)
        }
    }

    private mutating func path(_ variables: [String]) -> QueryExpression {
        let variable = pick(variables.count)
        let names: [[String]] =
            variables[variable] == "Thing"
            ? [["count"], ["isOld"], ["small"], ["owner"], ["owner", "age"]] : [["rank"]]
        return .path(from: variable, FormatFixtures.model.properties(variables[variable], names[pick(names.count)]))
    }

    private mutating func source(_ variables: [String]) -> (CollectionSource, String)? {
        let variable = pick(variables.count)
        let (names, entity): ([String], String) =
            variables[variable] == "Tag"
            ? (["things"], "Thing") : pick(2) == 0 ? (["tags"], "Tag") : (["owner", "things"], "Thing")
        return (.members(from: variable, FormatFixtures.model.properties(variables[variable], names)), entity)
    }
}
