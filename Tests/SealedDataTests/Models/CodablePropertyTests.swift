import Foundation
import SealedData
import Testing

@Suite("Properties of enums, structs and collections")
struct CodablePropertyTests {
    enum Colour: String, Codable, CaseIterable { case red, green, `default` }
    enum Level: Int, Codable { case low = -1, high = 7 }
    enum Shape: Codable, Equatable { case point, circle(radius: Double), polygon([Point]) }
    struct Point: Codable, Hashable { var x = 0.0, y = 0.0 }
    struct Tag: RawRepresentable, Codable, Hashable { var rawValue: String }
    struct Flags: OptionSet, Codable { let rawValue: Int }
    struct Box<Content: Codable & Equatable>: Codable, Equatable { var content: Content }

    @Model final class Drawing {
        var colour: Colour
        var optionalColour: Colour?
        var level = Level.low
        var optionalLevel: Level? = .high
        var shape: Shape
        var optionalShape: Shape?
        var origin = Point()
        var optionalOrigin: Point?
        var tag: Tag
        var flags: Flags = []
        var box: Box<[Int]>
        var nested: Box<Box<String?>>?

        init(colour: Colour, shape: Shape, tag: Tag, box: Box<[Int]>) {
            self.colour = colour
            self.shape = shape
            self.tag = tag
            self.box = box
        }
    }

    private func makeDrawing() -> Drawing {
        Drawing(colour: .default, shape: .circle(radius: 1.5), tag: Tag(rawValue: "t"), box: Box(content: [1, 2]))
    }

    @Test func `values survive saving`() throws {
        let new = makeDrawing()
        new.optionalColour = .red
        new.level = .high
        new.optionalShape = .polygon([Point(x: 1, y: 2), Point()])
        new.origin.y = 4
        new.optionalOrigin = Point(x: -1)
        new.flags.insert(Flags(rawValue: 4))
        new.nested = Box(content: Box(content: nil))
        let saved = try Saved(new)
        for model in [new, saved.model] {
            #expect(model.colour == .default)
            #expect(model.optionalColour == .red)
            #expect(model.level == .high)
            #expect(model.optionalLevel == .high)
            #expect(model.shape == .circle(radius: 1.5))
            #expect(model.optionalShape == .polygon([Point(x: 1, y: 2), Point()]))
            #expect(model.origin == Point(x: 0, y: 4))
            #expect(model.optionalOrigin == Point(x: -1))
            #expect(model.tag == Tag(rawValue: "t"))
            #expect(model.flags.rawValue == 4)
            #expect(model.box == Box(content: [1, 2]))
            #expect(model.nested == Box(content: Box(content: nil)))
        }
    }

    @Test func `optional values are nil until they are set`() throws {
        let new = makeDrawing()
        new.optionalLevel = nil
        let saved = try Saved(new)
        for model in [new, saved.model] {
            #expect(model.optionalColour == nil)
            #expect(model.optionalLevel == nil)
            #expect(model.optionalShape == nil)
            #expect(model.optionalOrigin == nil)
            #expect(model.nested == nil)
        }
    }

    @Test func `a part of a value can be changed in place`() throws {
        let saved = try Saved(makeDrawing())
        saved.model.origin.x += 2
        saved.model.box.content.append(3)
        #expect(saved.model.origin == Point(x: 2, y: 0))
        #expect(saved.model.box == Box(content: [1, 2, 3]))
        #expect(saved.context.hasChanges)
    }

    @Model final class Collections {
        var numbers: [Int]
        var words: [String] = ["a", "b"]
        var points: [Point] = []
        var colours: [Colour] = Colour.allCases
        var optionals: [Int?] = [1, nil]
        var set: Set<String> = []
        var counts: [String: Int] = [:]
        var pointsByColour: [Colour: [Point]] = [:]
        var nested: [[Int]]?
        var range = 1..<4

        init(numbers: [Int]) {
            self.numbers = numbers
        }
    }

    @Test func `collections survive saving`() throws {
        let new = Collections(numbers: [3, 1, 2])
        new.words.append("c")
        new.points = [Point(x: 1)]
        new.set = ["x", "y"]
        new.counts["z"] = 26
        new.pointsByColour[.red, default: []].append(Point(y: 2))
        new.nested = [[], [1]]
        let saved = try Saved(new)
        for model in [new, saved.model] {
            #expect(model.numbers == [3, 1, 2])
            #expect(model.words == ["a", "b", "c"])
            #expect(model.points == [Point(x: 1)])
            #expect(model.colours == [.red, .green, .default])
            #expect(model.optionals == [1, nil])
            #expect(model.set == ["x", "y"])
            #expect(model.counts == ["z": 26])
            #expect(model.pointsByColour == [.red: [Point(y: 2)]])
            #expect(model.nested == [[], [1]])
            #expect(model.range == 1..<4)
        }
    }
}
