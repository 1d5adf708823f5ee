import Foundation
@testable import ObjectGraph
@testable import SealedData
import TestSupport
import Testing

@Suite("Properties with a value transformer")
struct TransformedPropertyTests {
    /// Neither storable nor Codable.
    final class Colour: Equatable, CustomStringConvertible {
        let red: UInt8, green: UInt8, blue: UInt8

        init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) { (self.red, self.green, self.blue) = (red, green, blue) }

        static func == (left: Colour, right: Colour) -> Bool { left.bytes == right.bytes }

        var bytes: [UInt8] { [red, green, blue] }
        var description: String { "\(bytes)" }
    }

    /// Refuses black, and data that does not consist of colours.
    final class ColourTransformer: ValueTransformer {
        override func transformedValue(_ value: Any?) -> Any? {
            guard let colour = value as? Colour, colour.bytes != [0, 0, 0] else { return nil }
            return Data(colour.bytes)
        }

        override func reverseTransformedValue(_ value: Any?) -> Any? {
            guard let data = value as? Data, data.count == 3 else { return nil }
            let bytes = Array(data)
            return Colour(bytes[0], bytes[1], bytes[2])
        }
    }

    final class PaletteTransformer: ValueTransformer {
        override func transformedValue(_ value: Any?) -> Any? {
            (value as? [Colour]).map { Data($0.flatMap(\.bytes)) }
        }

        override func reverseTransformedValue(_ value: Any?) -> Any? {
            guard let bytes = (value as? Data).map(Array.init), bytes.count.isMultiple(of: 3) else { return nil }
            return stride(from: 0, to: bytes.count, by: 3).map { Colour(bytes[$0], bytes[$0 + 1], bytes[$0 + 2]) }
        }
    }

    enum Finish: String { case matt, gloss }
    struct Layer: Codable, Equatable { var thickness = 1.5 }

    @Model final class Paint {
        var name: String
        @Attribute(.transformable(by: ColourTransformer.self)) var colour: Colour
        @Attribute(.transformable(by: ColourTransformer.self)) var shade: Colour?
        @Attribute(.transformable(by: ColourTransformer.self)) var primer = Colour(1, 2, 3)
        @Attribute(.transformable(by: ColourTransformer.self)) var watched: Colour? = nil {
            didSet { changes.append("\(oldValue?.bytes ?? []) to \(watched?.bytes ?? [])") }
        }
        @Attribute(.transformable(by: PaletteTransformer.self), .externalStorage) var palette: [Colour] = []
        @Attribute(.transformable(by: "TransformedPropertyTests.Colour")) var named: Colour?
        @Attribute(.transformable(by: ColourTransformer.self)) let origin: Colour?
        @Transient var changes: [String] = []

        init(_ name: String, _ colour: Colour) {
            self.name = name
            self.colour = colour
            origin = colour
        }
    }

    /// The same entity, as its columns are.
    enum Stored {
        @Model final class Swatch {
            var name: String
            var colour: Data?
            var base: Data
            init(_ name: String, base: Data) { (self.name, self.base) = (name, base) }
        }
    }

    /// The same entity before it had colours.
    enum Earlier {
        @Model final class Swatch {
            var name: String
            init(_ name: String) { self.name = name }
        }
    }

    @Model class Swatch {
        var name: String
        @Attribute(.transformable(by: ColourTransformer.self)) var colour: Colour?
        @Attribute(.transformable(by: ColourTransformer.self)) var base = Colour(9, 9, 9)
        init(_ name: String) { self.name = name }
    }

    @Model final class Kept {
        @Attribute(.preserveValueOnDeletion, .transformable(by: ColourTransformer.self)) var colour: Colour?
        init(_ colour: Colour?) { self.colour = colour }
    }

    /// Types that are stored without a transformer.
    @Model final class Tin {
        @Attribute(.transformable(by: ColourTransformer.self)) var label = "tin"
        @Attribute(.transformable(by: ColourTransformer.self)) var finish = Finish.matt
        @Attribute(.transformable(by: ColourTransformer.self)) var layer: Layer? = Layer()
        @Attribute(.transformable(by: ColourTransformer.self)) var tags: [String] = ["a"]
        init() {}
    }

    @Model final class Unregistered {
        @Attribute(.transformable(by: "no transformer has this name")) var colour: Colour?
        init() {}
    }

    private static let isRegistered: Void = ValueTransformer.setValueTransformer(
        ColourTransformer(),
        forName: NSValueTransformerName("TransformedPropertyTests.Colour")
    )

    init() { Self.isRegistered }

    private func container<Model: PersistentModel>(_ type: Model.Type) throws -> ModelContainer {
        try ModelContainer(for: type, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    @Test func `values survive saving`() throws {
        let new = Paint("sea", Colour(0, 0, 200))
        new.shade = Colour(0, 0, 100)
        new.palette = [Colour(4, 5, 6), Colour(7, 8, 9)]
        new.palette.append(Colour(1, 1, 1))
        new.named = Colour(5, 5, 5)
        let saved = try Saved(new)
        for model in [new, saved.model] {
            #expect(model.colour == Colour(0, 0, 200))
            #expect(model.shade == Colour(0, 0, 100))
            #expect(model.primer == Colour(1, 2, 3))
            #expect(model.palette == [Colour(4, 5, 6), Colour(7, 8, 9), Colour(1, 1, 1)])
            #expect(model.named == Colour(5, 5, 5))
            #expect(model.origin == Colour(0, 0, 200))
        }
    }

    @Test func `optional values are nil until they are set, and can be set to nil`() throws {
        let saved = try Saved(Paint("sea", Colour(0, 0, 200)))
        #expect(saved.model.shade == nil)
        #expect(saved.model.named == nil)
        saved.model.shade = Colour(1, 1, 1)
        try saved.context.save()
        saved.model.shade = nil
        saved.model.colour = Colour(2, 2, 2)
        try saved.context.save()
        let read = try #require(ModelContext(saved.context.container).fetch(FetchDescriptor<Paint>()).first)
        #expect(read.shade == nil)
        #expect(read.colour == Colour(2, 2, 2))
        #expect(saved.context.readFailures.isEmpty)
    }

    @Test func `observers run with values`() {
        let paint = Paint("sea", Colour(0, 0, 200))
        paint.watched = Colour(1, 2, 3)
        paint.watched = nil
        #expect(paint.changes == ["[] to [1, 2, 3]", "[1, 2, 3] to []"])
    }

    @Test func `a rollback restores the value`() throws {
        let saved = try Saved(Paint("sea", Colour(0, 0, 200)))
        saved.model.colour = Colour(1, 1, 1)
        saved.context.rollback()
        #expect(saved.model.colour == Colour(0, 0, 200))
    }

    @Test func `the attributes are data`() throws {
        let schema = Schema([Paint.self])
        let attributes = try #require(try schema.makeModel().model.entitiesByName["Paint"]).attributes
        let types = Dictionary(uniqueKeysWithValues: attributes.map { ($0.name, $0.type) })
        for name in ["colour", "shade", "primer", "watched", "palette", "named", "origin"] {
            #expect(types[name] == .data, "\(name)")
        }
        let described = schema.entities[0].attributesByName
        #expect(described["shade"]?.isOptional == true)
        #expect(described["colour"]?.isOptional == false)
        #expect(described["colour"]?.isTransformable == true)
        let decoded = try JSONDecoder().decode(Schema.self, from: JSONEncoder().encode(schema))
        #expect(decoded.entities[0].attributesByName["colour"]?.storedType == .data)
    }

    @Test func `types that can be stored are stored without the transformer`() throws {
        let attributes = try #require(try Schema([Tin.self]).makeModel().model.entitiesByName["Tin"]).attributes
        #expect(attributes.map(\.type) == [.string, .string, .composite, .composite])
        let new = Tin()
        new.finish = .gloss
        new.layer?.thickness = 2
        new.tags.append("b")
        let saved = try Saved(new)
        for model in [new, saved.model] {
            #expect(model.label == "tin")
            #expect(model.finish == .gloss)
            #expect(model.layer == Layer(thickness: 2))
            #expect(model.tags == ["a", "b"])
        }
        #expect(saved.model._$storedValue(at: 3) == .text(#"["a","b"]"#))
        saved.model.layer = nil
        try saved.context.save()
        #expect(saved.model._$storedValue(at: 2) == .null)
    }

    @Test func `a value that the transformer refuses cannot be saved`() throws {
        let context = ModelContext(try container(Paint.self))
        let paint = Paint("night", Colour(0, 0, 0))
        context.insert(paint)
        #expect(paint.colour == Colour(0, 0, 0))
        #expect(throws: ObjectGraphError.self) { try context.save() }
        paint.colour = Colour(0, 0, 1)
        #expect(throws: ObjectGraphError.self) { try context.save() }
        context.delete(paint)
        context.insert(Paint("evening", Colour(0, 0, 2)))
        try context.save()
        #expect(try ModelContext(context.container).fetch(FetchDescriptor<Paint>()).map(\.name) == ["evening"])
    }

    @Test func `without the named transformer nothing is saved`() throws {
        let context = ModelContext(try container(Unregistered.self))
        let model = Unregistered()
        context.insert(model)
        try context.save()
        model.colour = Colour(1, 2, 3)
        #expect(throws: ObjectGraphError.self) { try context.save() }
    }

    @Test(arguments: ["colour", "base"])
    func `data that the transformer refuses is reported and kept`(property: String) throws {
        let folder = TemporaryFolder()
        let configuration = ModelConfiguration(url: folder.file("swatches.store"), key: .ofTests)
        let damaged = Data("neither red nor blue".utf8)
        do {
            let container = try ModelContainer(for: Stored.Swatch.self, configurations: configuration)
            let context = ModelContext(container)
            let row = Stored.Swatch("sea", base: property == "base" ? damaged : Data([1, 2, 3]))
            row.colour = property == "colour" ? damaged : Data([1, 2, 3])
            context.insert(row)
            try context.save()
        }
        do {
            let context = ModelContext(try ModelContainer(for: Swatch.self, configurations: configuration))
            let swatch = try #require(try context.fetch(FetchDescriptor<Swatch>()).first)
            #expect(swatch.colour == (property == "colour" ? nil : Colour(1, 2, 3)))
            #expect(swatch.base == (property == "base" ? Colour(9, 9, 9) : Colour(1, 2, 3)))
            #expect(context.readFailures.map(\.propertyName) == [property])
            #expect(context.readFailures.first?.cause is ReadFailures.UndecodableValue)
            swatch.name = "renamed"
            #expect(throws: ObjectGraphError.self) { try context.save() }
            context.forgetReadFailures()
            try context.save()
        }
        let context = ModelContext(try ModelContainer(for: Stored.Swatch.self, configurations: configuration))
        let row = try #require(try context.fetch(FetchDescriptor<Stored.Swatch>()).first)
        #expect(row.name == "renamed")
        #expect((property == "colour" ? row.colour : row.base) == damaged)
        #expect((property == "colour" ? row.base : row.colour) == Data([1, 2, 3]))
    }

    @Test func `a migration writes the default value of a new property`() throws {
        let folder = TemporaryFolder()
        let configuration = ModelConfiguration(url: folder.file("swatches.store"), key: .ofTests)
        do {
            let context = ModelContext(try ModelContainer(for: Earlier.Swatch.self, configurations: configuration))
            context.insert(Earlier.Swatch("sea"))
            try context.save()
        }
        do {
            let context = ModelContext(try ModelContainer(for: Swatch.self, configurations: configuration))
            let swatch = try #require(try context.fetch(FetchDescriptor<Swatch>()).first)
            #expect(swatch.base == Colour(9, 9, 9))
            #expect(swatch.colour == nil)
            #expect(context.readFailures.isEmpty)
        }
        let context = ModelContext(try ModelContainer(for: Stored.Swatch.self, configurations: configuration))
        #expect(try context.fetch(FetchDescriptor<Stored.Swatch>()).map(\.base) == [Data([9, 9, 9])])
    }

    @Test func `a tombstone has the value`() throws {
        let folder = TemporaryFolder()
        var configuration = ModelConfiguration(url: folder.file("kept.store"), key: .ofTests)
        configuration.history = HistoryOptions()
        let context = ModelContext(try ModelContainer(for: Kept.self, configurations: configuration))
        let kept = Kept(Colour(1, 2, 3))
        context.insert(kept)
        try context.save()
        context.delete(kept)
        try context.save()
        let transactions = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        guard case .delete(let change)? = transactions.last?.changes.first,
            let deletion = change as? any HistoryDelete<Kept>
        else {
            Issue.record("the history has no deletion")
            return
        }
        #expect(deletion.tombstone[\.colour] as? Colour == Colour(1, 2, 3))
    }

    @Test func `values are compared with nil only`() throws {
        let context = ModelContext(try container(Paint.self))
        let (plain, shaded) = (Paint("plain", Colour(1, 1, 1)), Paint("shaded", Colour(1, 1, 1)))
        shaded.shade = Colour(2, 2, 2)
        context.insert(plain)
        context.insert(shaded)
        try context.save()
        let unshaded = FetchDescriptor<Paint>(predicate: #Predicate { $0.shade == nil })
        #expect(try context.fetch(unshaded).map(\.name) == ["plain"])
        let equal = FetchDescriptor<Paint>(predicate: #Predicate { $0.colour == $0.primer })
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetch(equal) }
        #expect(throws: SwiftDataError.unsupportedKeyPath) {
            _ = try context.aggregate(Paint.self, groupedBy: \Paint.colour, computing: .count())
        }
    }

    @Test func `a transformer is found by its name`() {
        let name = NSValueTransformerName("TransformedPropertyTests.Palette")
        #expect(ValueTransformer(forName: name) == nil)
        let transformer = PaletteTransformer()
        ValueTransformer.setValueTransformer(transformer, forName: name)
        #expect(ValueTransformer(forName: name) === transformer)
        #expect(ValueTransformer.valueTransformerNames().contains(name))
        ValueTransformer.setValueTransformer(nil, forName: name)
        #expect(ValueTransformer(forName: name) == nil)
    }
}
