import Foundation
import SealedData
import Testing

@Suite("Ways of declaring a property")
struct PropertyDeclarationTests {
    @Model final class Defaults {
        var literal = 3
        var typed: Double = 3
        var called: [Int] = {
            // A closure that is called immediately.
            [1, 2]
        }()
        var conditional: Int = if Bool(true) { 1 } else { 2 }
        var text = """
            first
              second \("line")
            """
        var kind: Kind = .second  // a comment after the value
        var id = UUID()

        enum Kind: String, Codable { case first, second }
    }

    @Test func `defaults are the values of a new object`() throws {
        let new = Defaults()
        let id = new.id
        let saved = try Saved(new)
        for model in [new, saved.model] {
            #expect(model.literal == 3)
            #expect(model.typed == 3.0)
            #expect(model.called == [1, 2])
            #expect(model.conditional == 1)
            #expect(model.text == "first\n  second line")
            #expect(model.kind == .second)
            #expect(model.id == id)
        }
    }

    @Test func `each object evaluates its defaults`() {
        #expect(Defaults().id != Defaults().id)
    }

    @Model final class Constants {
        let name: String
        let note: String?
        let point: [Double]
        var count: Int

        init(name: String, note: String?) {
            count = name.count
            self.name = name
            point = [1, 2]
            self.note = note
        }
    }

    @Test func `constants are stored`() throws {
        let saved = try Saved(Constants(name: "n", note: nil))
        #expect(saved.model.name == "n")
        #expect(saved.model.note == nil)
        #expect(saved.model.point == [1, 2])
        #expect(saved.model.count == 1)
    }

    @Model final class Computed {
        var first = "a"
        var last = "b"
        var full: String { first + last }
        var swapped: String {
            get { last + first }
            set { (last, first) = (String(newValue.prefix(1)), String(newValue.suffix(1))) }
        }
        static let shared = "shared"
        class var kind: String { "kind" }
    }

    @Test func `computed and static properties are not stored`() throws {
        let new = Computed()
        new.swapped = "xy"
        let saved = try Saved(new)
        #expect(saved.model.full == "yx")
        #expect(Computed._$slotCount == 2)
    }

    @Model final class Access {
        private(set) var outer: Int
        fileprivate(set) var middle = 1
        private var inner = 2
        internal var plain = 3
        package var shared = 4

        init(outer: Int) { self.outer = outer }

        func change() {
            outer += 1
            inner += 1
        }
        var sum: Int { outer + middle + inner + plain + shared }
    }

    @Test func `properties of any access level are stored`() throws {
        let new = Access(outer: 10)
        new.change()
        new.middle = 5
        #expect(try Saved(new).model.sum == 26)
    }

    @Model final class Select {
        var `class`: String
        var `default` = 1
        var `in`: Int?
        var select = "a"
        var order = "b"
        var group: String
        var table = [1]
        var index = 1
        var rowid = 2
        var _id = 3
        var id = 4
        var `two words` = "two"
        var naïve = "ï"

        init(class: String, group: String) {
            self.`class` = `class`
            self.group = group
        }
    }

    @Test func `names may be reserved words of Swift and SQL`() throws {
        let new = Select(class: "c", group: "g")
        new.in = 7
        new.`two words` += "!"
        let saved = try Saved(new)
        let model = saved.model
        #expect(model.class == "c")
        #expect(model.default == 1)
        #expect(model.in == 7)
        #expect(model.select + model.order + model.group == "abg")
        #expect(model.table == [1])
        #expect(model.index == 1)
        #expect(model.rowid == 2)
        #expect(model._id == 3)
        #expect(model.id == 4)
        #expect(model.`two words` == "two!")
        #expect(model.naïve == "ï")
    }

    @Model final class Annotated {
        @Attribute(.unique) var code: String
        @Attribute(.externalStorage) var picture: Data?
        @Attribute(originalName: "caption") var title = ""
        @Attribute(.unique, originalName: "no", hashModifier: "2") var number: Int
        @available(*, deprecated) var old = 1

        init(code: String, number: Int) {
            self.code = code
            self.number = number
        }
    }

    @Test func `annotated properties are stored`() throws {
        let new = Annotated(code: "c", number: 3)
        new.picture = Data(repeating: 7, count: 300_000)
        let saved = try Saved(new)
        #expect(saved.model.code == "c")
        #expect(saved.model.picture == Data(repeating: 7, count: 300_000))
        #expect(saved.model.title == "")
        #expect(saved.model.number == 3)
    }

    @Model final class Empty {}

    @Test func `a class without properties can be saved`() throws {
        _ = try Saved(Empty())
    }
}
