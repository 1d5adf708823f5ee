import Foundation
import SealedData
import Testing

// Model classes in the forms in which apps write them.

@Suite("Model classes of apps")
struct AppModelTests {
    /// A place with visitors.
    @Model
    class Backyard: Identifiable, CustomStringConvertible {
        #Unique<Backyard>([\.id], [\.name, \.created])
        #Index<Backyard>([\.name], [\.isFavorite, \.name])

        @Attribute(.unique)
        var id: UUID
        var name: String
        /// Whether the note is pinned to the top.
        var isFavorite: Bool

        // MARK: Appearance

        @Attribute(.externalStorage)
        var image: Data?
        @Attribute(.externalStorage, originalName: "pic") private(set) var thumbnail: Data? = nil
        var tint = Tint.green  // inferred from the value
        var corner = Point(x: 1, y: 2)
        var created = Date.distantPast
        var limits = 0...10
        var labels: Set<String> = []
        var counts: [Tint: Int] = [.green: 1]
        var history: [String: [Date]]? = nil
        var nested: [[Int?]] = [[1, nil]]
        var flags: OptionFlags = [.wild, .wet]
        var duration: Duration = .seconds(5)
        var locale = Locale(identifier: "ja")

        @Relationship(deleteRule: .cascade, inverse: \Visitor.backyard)
        var visitors: [Visitor]? = []
        @Relationship var owner: Owner!

        var description: String { name }
        var isEmpty: Bool { visitors?.isEmpty ?? true }
        @Transient lazy private(set) var cached = name.count
        @Transient private var drawn = 0
        static let preview = "preview"

        required init(id: UUID = UUID(), name: String, isFavorite: Bool = false) {
            self.id = id
            self.name = name
            self.isFavorite = isFavorite
        }

        func paint() { thumbnail = Data([1]) }
    }

    enum Tint: String, Codable, CaseIterable, CodingKeyRepresentable {
        case green, blue
    }

    struct Point: Codable, Hashable {
        var x: Double
        var y: Double
    }

    struct OptionFlags: OptionSet, Codable {
        let rawValue: Int
        static let wild = OptionFlags(rawValue: 1)
        static let wet = OptionFlags(rawValue: 2)
    }

    @Model
    final class Visitor {
        private(set) var name: String
        var backyard: Backyard?
        @Relationship(deleteRule: .nullify, minimumModelCount: 0, maximumModelCount: 3, inverse: \Visitor.friendOf)
        var friends: [Visitor] = []
        var friendOf: [Visitor] = []

        fileprivate init(name: String) { self.name = name }

        init?(number: Int) async throws {
            guard number >= 0 else { return nil }
            name = await Self.name(number)
        }

        private static func name(_ number: Int) async -> String { "visitor \(number)" }
    }

    @Model
    final class Owner {
        var name: String
        @Relationship(inverse: \Backyard.owner) var backyards: [Backyard]

        init(name: String, backyards: [Backyard] = []) {
            self.name = name
            self.backyards = backyards
        }
    }

    @Test func `values of every kind survive saving`() throws {
        let new = Backyard(name: "b")
        new.paint()
        new.image = Data(repeating: 1, count: 10000)
        new.history = ["a": [Date(timeIntervalSinceReferenceDate: 1)]]
        new.labels = ["x", "y"]
        let saved = try Saved(new)
        for model in [new, saved.model] {
            #expect((model.id, model.name, model.isFavorite) == (new.id, "b", false))
            #expect((model.image?.count, model.thumbnail) == (10000, Data([1])))
            #expect(model.tint == .green)
            #expect(model.corner == Point(x: 1, y: 2))
            #expect(model.created == .distantPast)
            #expect(model.limits == 0...10)
            #expect(model.labels == ["x", "y"])
            #expect(model.counts == [.green: 1])
            #expect(model.history == ["a": [Date(timeIntervalSinceReferenceDate: 1)]])
            #expect(model.nested == [[1, nil]])
            #expect(model.flags == [.wild, .wet])
            #expect(model.duration == .seconds(5))
            #expect(model.locale == Locale(identifier: "ja"))
            #expect((model.cached, model.isEmpty, "\(model)") == (1, true, "b"))
        }
    }

    @Test func `relationships of every kind survive saving`() async throws {
        let backyard = Backyard(name: "b", isFavorite: true)
        let visitor = try #require(try await Visitor(number: 1))
        #expect(try await Visitor(number: -1) == nil)
        let other = Visitor(name: "other")
        visitor.friends.append(other)
        backyard.visitors?.append(visitor)
        other.backyard = backyard
        backyard.owner = Owner(name: "o")
        let saved = try Saved(backyard)
        #expect(saved.model.visitors?.map(\.name).sorted() == ["other", "visitor 1"])
        #expect(saved.model.owner.name == "o")
        #expect(saved.model.owner.backyards == [saved.model])
        #expect(saved.model.visitors?.first { $0.name == "other" }?.friendOf.map(\.name) == ["visitor 1"])
    }

    @Test func `an owner is initialized with its members`() throws {
        let saved = try Saved(Owner(name: "o", backyards: [Backyard(name: "x"), Backyard(name: "y")]))
        #expect(saved.model.backyards.map(\.name) == ["x", "y"])
    }
}

extension AppModelTests.Backyard {
    convenience init(copying other: AppModelTests.Backyard) throws {
        self.init(name: "copy of \(other.name)", isFavorite: other.isFavorite)
    }
}

extension AppModelTests {
    @Test func `an initializer in an extension`() throws {
        let copy = try Backyard(copying: Backyard(name: "b", isFavorite: true))
        #expect(try Saved(copy).model.name == "copy of b")
    }
}
