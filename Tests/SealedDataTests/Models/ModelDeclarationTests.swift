import Foundation
public import SealedData
import Testing

@Suite("Places and kinds of model classes")
struct ModelDeclarationTests {
    enum Travel {
        struct Europe {
            @Model final class Nested {
                var name = "nested"
            }
        }
    }

    @Test func `a class inside enums and structs`() throws {
        #expect(try Saved(Travel.Europe.Nested()).model.name == "nested")
    }

    @Test func `a class inside an extension`() throws {
        #expect(try Saved(Travel.Extended(name: "e")).model.name == "e")
    }

    @Test func `a class inside a public extension`() throws {
        #expect(try Saved(PublicTravel.Implied(name: "i")).model.name == "i")
    }

    @Test func `private and fileprivate classes`() throws {
        #expect(try Saved(Hidden(name: "h")).model.name == "h")
        #expect(try Saved(FilePrivate()).model.name == "f")
    }

    @Test func `a class that is not final`() throws {
        #expect(try Saved(OpenModel(name: "o")).model.name == "o")
    }

    @Test func `a class with a name in backticks`() throws {
        #expect(try Saved(`Type`()).model.name == "type")
    }

    enum Kind: String, Codable { case first, second }

    @Test func `a generic class`() throws {
        #expect(try Saved(Generic(content: [1, 2])).model.content == [1, 2])
        #expect(try Saved(Generic(content: 5)).model.content == 5)
        #expect(try Saved(Generic(content: "text")).model.content == "text")
        #expect(try Saved(Generic(content: Date.distantPast)).model.content == .distantPast)
        #expect(try Saved(Generic(content: Kind.second)).model.content == .second)
        #expect(try Saved(Generic(content: Int?.some(3))).model.content == 3)
        #expect(try Saved(Generic(content: Kind?.none)).model.content == nil)
    }

    @Test func `the constants and optionals of a generic class`() throws {
        let pair = try Saved(GenericPair(7, "text")).model
        #expect((pair.first, pair.second) == (7, "text"))
        pair.second = nil
        #expect(pair.second == nil)
        #expect(try Saved(GenericPair([1], Kind.second)).model.second == .second)
    }

    @Test func `a class that conforms to more protocols`() throws {
        let saved = try Saved(Described(name: "d"))
        #expect("\(saved.model)" == "<d>")
        #expect(saved.model.label == "label of d")
    }

    @Test func `an extension with samples`() throws {
        #expect(Described.samples.map(\.name) == ["first", "second"])
        #expect(try Saved(Described.sample).model.name == "sample")
    }

    @Test func `equality is identity`() {
        let described = Described(name: "a")
        #expect(described == described)
        #expect(described != Described(name: "a"))
        #expect(Set([described, described]).count == 1)
    }
}

extension ModelDeclarationTests.Travel {
    @Model final class Extended {
        var name: String
        init(name: String) { self.name = name }
    }
}

/// A public model.
public enum PublicTravel {}

public extension PublicTravel {
    @Model final class Implied {
        var name: String
        init(name: String) { self.name = name }
    }
}

@Model private final class Hidden {
    private(set) var name: String
    init(name: String) { self.name = name }
}

@Model fileprivate final class FilePrivate {
    var name = "f"
}

@Model open class OpenModel {
    open var name: String
    /// Creates a model.
    public init(name: String) { self.name = name }
}

@Model final class `Type` {
    var name = "type"
}

@Model final class Generic<Content: Codable & Equatable & Sendable> {
    var content: Content
    init(content: Content) { self.content = content }
}

@Model final class GenericPair<First: Codable & Sendable, Second: Codable & Sendable> {
    let first: First
    var second: Second?
    init(_ first: First, _ second: Second?) {
        self.first = first
        self.second = second
    }
}

protocol Labelled { var label: String { get } }

@Model final class Described: CustomStringConvertible, Labelled {
    var name: String
    var description: String { "<\(name)>" }
    init(name: String) { self.name = name }
}

extension Described {
    var label: String { "label of \(name)" }

    static var sample: Described { Described(name: "sample") }
    @MainActor static let shared = Described(name: "shared")
    static var samples: [Described] { [Described(name: "first"), Described(name: "second")] }
}
