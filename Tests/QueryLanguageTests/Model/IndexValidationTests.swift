import Foundation
import QueryLanguage
import Testing

/// The attributes that each kind of index accepts.
@Suite struct IndexValidationTests {
    private func problems(_ index: FetchIndexDescription) -> [String] {
        let attributes: [AttributeDescription] =
            AttributeType.allCases.map { AttributeDescription($0.rawValue, $0) } + [
                AttributeDescription("text", .string)
            ]
        let inherited = EntityDescription("Base", attributes: attributes)
        do {
            _ = try ManagedObjectModel(entities: [
                inherited, EntityDescription("Thing", superentity: "Base", indexes: [index]),
            ])
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test func `an R-tree indexes one to five numbers and dates`() {
        #expect(problems(FetchIndexDescription(["int8", "int64", "double", "duration", "date"], kind: .rtree)) == [])
        #expect(
            problems(FetchIndexDescription(["int8", "int16", "int32", "int64", "double", "float"], kind: .rtree))
                == ["Thing: an R-tree is built over at most 5 attributes"]
        )
        for name in ["uint64", "bool", "decimal", "string", "uuid", "url", "data", "composite"] {
            #expect(
                problems(FetchIndexDescription([name], kind: .rtree))
                    == ["Thing.\(name): an R-tree names it, but it is no number or date"]
            )
        }
    }

    @Test func `a full-text index indexes texts`() {
        #expect(problems(FetchIndexDescription(["text", "string"], kind: .fullText(FullTextOptions()))) == [])
        #expect(
            problems(FetchIndexDescription(["url"], kind: .fullText(FullTextOptions())))
                == ["Thing.url: a full-text index names it, but it is no text"]
        )
    }

    @Test func `prefix lengths have bounds`() {
        func index(_ lengths: [Int], _ tokenizer: FullTextTokenizer = .unicode61) -> FetchIndexDescription {
            FetchIndexDescription(
                ["text"],
                kind: .fullText(FullTextOptions(tokenizer: tokenizer, prefixLengths: lengths))
            )
        }
        #expect(problems(index([1, 2, 999])) == [])
        #expect(problems(index([0])) == ["Thing: the prefix lengths of a full-text index go from 1 to 999"])
        #expect(problems(index([1000])) == ["Thing: the prefix lengths of a full-text index go from 1 to 999"])
        #expect(problems(index([2, 2])) == ["Thing: a full-text index has at most 31 different prefix lengths"])
        #expect(problems(index([2], .trigram)) == ["Thing: a full-text index of trigrams has no prefix lengths"])
    }

    @Test func `declarations are encoded and decoded`() throws {
        for kind in [
            FetchIndexDescription.Kind.binary, .rtree,
            .fullText(FullTextOptions(tokenizer: .porter, prefixLengths: [2])),
        ] {
            let index = FetchIndexDescription(["a", "b"], kind: kind)
            #expect(try JSONDecoder().decode(FetchIndexDescription.self, from: JSONEncoder().encode(index)) == index)
        }
    }
}
