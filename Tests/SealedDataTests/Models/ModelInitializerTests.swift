import Foundation
import SealedData
import Testing

@Suite("Initializers of a model")
struct ModelInitializerTests {
    struct Refused: Error {}

    @Model final class Trip {
        var name: String
        var days: Int
        var note: String?
        var rating = 3

        init(name: String, days: Int = 1) {
            self.days = days
            self.name = name
            if days > 5 { rating = 5 }
        }

        convenience init(name: String, note: String) {
            self.init(name: name)
            self.note = note
        }

        init?(positiveDays: Int) {
            guard positiveDays > 0 else { return nil }
            (name, days) = ("positive", positiveDays)
        }

        init(throwingFor days: Int) throws {
            name = "throwing"
            self.days = days
            if days < 0 { throw Refused() }
            note = describe()
            self.days += 1
        }

        private func describe() -> String { "\(name), \(days)" }
    }

    @Test func `a designated initializer`() throws {
        let saved = try Saved(Trip(name: "Kyoto", days: 7))
        #expect(saved.model.name == "Kyoto")
        #expect(saved.model.days == 7)
        #expect(saved.model.rating == 5)
        #expect(saved.model.note == nil)
    }

    @Test func `a convenience initializer`() throws {
        let saved = try Saved(Trip(name: "Kyoto", note: "spring"))
        #expect(saved.model.note == "spring")
        #expect(saved.model.days == 1)
    }

    @Test func `a failable initializer`() throws {
        #expect(Trip(positiveDays: 0) == nil)
        let trip = try #require(Trip(positiveDays: 2))
        #expect(try Saved(trip).model.name == "positive")
    }

    @Test func `a throwing initializer`() throws {
        #expect(throws: Refused.self) { try Trip(throwingFor: -1) }
        let saved = try Saved(Trip(throwingFor: 4))
        #expect(saved.model.days == 5)
        #expect(saved.model.note == "throwing, 4")
    }

    @Model final class Mixed {
        let id: UUID
        var name: String
        let kind: Int
        var size = 1.0
        var tags: [String]

        init(forwards id: UUID) {
            self.id = id
            name = "forwards"
            kind = 1
            size = 2
            tags = ["f"]
            tags.append(name)
        }

        init(backwards id: UUID) throws {
            tags = ["b"]
            size = 3
            kind = 2
            if kind > 2 { throw Refused() }
            self.name = "backwards"
            self.id = id
        }

        init?(branching id: UUID, _ flag: Bool) {
            self.id = id
            if flag {
                kind = 3
                name = "true"
            } else {
                name = "false"
                kind = 4
            }
            tags = []
            if kind == 4 { return nil }
        }
    }

    @Test func `constants and variables are assigned in any order`() throws {
        let id = UUID()
        let forwards = try Saved(Mixed(forwards: id)).model
        #expect((forwards.id, forwards.name, forwards.kind, forwards.size) == (id, "forwards", 1, 2))
        #expect(forwards.tags == ["f", "forwards"])
        let backwards = try Saved(Mixed(backwards: id)).model
        #expect((backwards.id, backwards.name, backwards.kind, backwards.size) == (id, "backwards", 2, 3))
        let branching = try Saved(#require(Mixed(branching: id, true))).model
        #expect((branching.id, branching.name, branching.kind, branching.size) == (id, "true", 3, 1))
        #expect(Mixed(branching: id, false) == nil)
    }

    @Model class Open: Codable {
        var a: Int
        var b = "b"

        init(a: Int) { self.a = a }

        required init(from decoder: any Decoder) throws {
            a = try decoder.singleValueContainer().decode(Int.self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(a)
        }
    }

    @Test func `a required initializer`() throws {
        let saved = try Saved(JSONDecoder().decode(Open.self, from: Data("12".utf8)))
        #expect(saved.model.a == 12)
        #expect(saved.model.b == "b")
        #expect(String(decoding: try JSONEncoder().encode(saved.model), as: UTF8.self) == "12")
    }

    class Plain {
        var local = 1
        init() {}
    }

    @Model final class Derived: Plain {
        var a: Int
        var b = "b"
        var c: [Int]

        override init() {
            a = 1
            c = []
            super.init()
            b = "changed"
        }
    }

    @Test func `a model may inherit from a class that is not a model`() throws {
        let saved = try Saved(Derived())
        #expect(saved.model.a == 1)
        #expect(saved.model.b == "changed")
        #expect(saved.model.c == [])
        #expect(saved.model.local == 1)
    }

    @Model final class Alone {
        var name = "only defaults"
        var note: String?
    }

    @Test func `a class whose properties all have defaults gets an initializer`() throws {
        #expect(try Saved(Alone()).model.name == "only defaults")
    }
}
