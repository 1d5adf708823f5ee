import Foundation
import SealedData
import SealedStore
import TestSupport
import Testing

/// Number and value types of Foundation: `CGFloat`, `Float16` and `Duration` have columns, the others are `Codable`.
@Suite struct NumberTypeTests {
    @Model final class Camera {
        var zoom: CGFloat = 1
        var maybe: CGFloat?
        var half: Float16 = 0
        var frame = CGRect.zero
        var duration = Duration.zero
        var place = IndexPath()
        var large: Int128 = 0
        var length = Measurement(value: 0, unit: UnitLength.meters)
        var scale = Scale.small

        init(_ zoom: CGFloat) {
            self.zoom = zoom
            maybe = zoom > 2 ? zoom : nil
            half = Float16(zoom)
            frame = CGRect(x: zoom, y: 0, width: 1, height: 1)
            duration = .seconds(Double(zoom))
            large = Int128(Int64.max) * 4
            length = Measurement(value: Double(zoom), unit: .meters)
            scale = zoom > 2 ? .large : .small
        }
    }

    enum Scale: CGFloat, Codable { case small = 0.5, large = 2 }

    private let folder = TemporaryFolder()
    private let context: ModelContext

    init() throws {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        context = ModelContext(try ModelContainer(for: Camera.self, configurations: configuration))
        for zoom in [3.0, 1.5, 2.25] as [CGFloat] { context.insert(Camera(zoom)) }
    }

    /// The zooms that a descriptor finds, before and after a save.
    private func zooms(_ descriptor: FetchDescriptor<Camera>) throws -> [CGFloat] {
        let unsaved = try context.fetch(descriptor).map(\.zoom)
        try context.save()
        #expect(try context.fetch(descriptor).map(\.zoom) == unsaved)
        return unsaved
    }

    @Test func `a CGFloat compares, calculates and sorts like a Double`() throws {
        let sorted = FetchDescriptor<Camera>(sortBy: [SortDescriptor(\.zoom)])
        #expect(try zooms(sorted) == [1.5, 2.25, 3])
        #expect(
            try zooms(FetchDescriptor(sortBy: [SortDescriptor(\.maybe), SortDescriptor(\.zoom)])) == [1.5, 2.25, 3]
        )
        #expect(try zooms(FetchDescriptor(predicate: #Predicate { $0.zoom == 1.5 })) == [1.5])
        #expect(try zooms(FetchDescriptor(predicate: #Predicate { $0.zoom * 2 > 5 })) == [3])
        #expect(try zooms(FetchDescriptor(predicate: #Predicate { (2.0...2.5).contains($0.zoom) })) == [2.25])
        #expect(try zooms(FetchDescriptor(predicate: #Predicate { $0.maybe == nil })) == [1.5])
        #expect(try zooms(FetchDescriptor(predicate: #Predicate { $0.scale.rawValue > 1 })).count == 2)
        #expect(try context.aggregate(Camera.self, .sum(\.zoom)) == 6.75)
        #expect(try context.aggregate(Camera.self, .maximum(\.zoom)) == 3)
    }

    @Test func `a Float16 compares and sorts`() throws {
        #expect(try zooms(FetchDescriptor(sortBy: [SortDescriptor(\.half)])) == [1.5, 2.25, 3])
        #expect(try zooms(FetchDescriptor(predicate: #Predicate { $0.half < 2 })) == [1.5])
        #expect(try context.fetch(FetchDescriptor<Camera>()).allSatisfy { $0.half == Float16($0.zoom) })
    }

    @Test func `values of other types are kept, and a sort by them is refused by name`() throws {
        try context.save()
        let reader = ModelContext(context.container)
        let camera = try #require(
            try reader.fetch(FetchDescriptor<Camera>(predicate: #Predicate { $0.zoom == 3 })).first
        )
        #expect(camera.duration == .seconds(3) && camera.large == Int128(Int64.max) * 4)
        #expect(camera.length == Measurement(value: 3, unit: .meters) && camera.frame.origin.x == 3)
        let sorts: [(SortDescriptor<Camera>, String)] = [
            (SortDescriptor(\.place), "IndexPath"), (SortDescriptor(\.large), "Int128"),
            (SortDescriptor(\.length), "Measurement"),
        ]
        for (sort, name) in sorts {
            let error = #expect(throws: SwiftDataError.self) {
                try reader.fetch(FetchDescriptor<Camera>(sortBy: [sort]))
            }
            let text = "\(error.map { "\($0)" } ?? "")"
            #expect(text.contains(name) && text.contains("stored as JSON text"), "\(text)")
        }
    }

    // MARK: Stores with JSON text

    enum Earlier: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Lens.self] }

        /// A number that is stored as JSON text, as `CGFloat` was.
        struct Number: Codable, Equatable {
            var value: CGFloat

            init(_ value: CGFloat) { self.value = value }
            init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(CGFloat.self) }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(value)
            }
        }

        @Model final class Lens {
            var name: String
            var zoom: Number
            var maybe: Number?
            init(_ name: String, _ zoom: CGFloat) {
                self.name = name
                self.zoom = Number(zoom)
                maybe = Number(-zoom)
            }
        }
    }

    enum Present: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Lens.self] }

        @Model final class Lens {
            var name: String
            var zoom: CGFloat
            var maybe: CGFloat?
            init() { (name, zoom) = ("", 0) }
        }
    }

    enum Later: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Lens.self] }

        @Model final class Lens {
            var name: String
            var zoom: CGFloat
            var maybe: CGFloat?
            var note = ""
            init() { (name, zoom) = ("", 0) }
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Present.self, Later.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: Present.self, toVersion: Later.self)] }
    }

    private static let numbers: [CGFloat] = [
        0, -0.0, 1.5, 0.1, 1e300, .leastNonzeroMagnitude, .pi, .infinity, -.infinity, 123_456_789.123_456_789,
        .greatestFiniteMagnitude,
    ]

    private var configuration: ModelConfiguration { ModelConfiguration(url: folder.file("lenses"), key: .ofTests) }

    /// Makes a store whose numbers are JSON text.
    private func makeEarlierStore(_ numbers: [CGFloat] = numbers) throws {
        let schema = Schema(versionedSchema: Earlier.self)
        let context = ModelContext(try ModelContainer(for: schema, configurations: configuration))
        for number in numbers { context.insert(Earlier.Lens("\(number)", number)) }
        try context.save()
    }

    @Test func `a store that has a CGFloat as JSON text opens and keeps each number exactly`() throws {
        try makeEarlierStore()
        let schema = Schema(versionedSchema: Present.self)
        let context = ModelContext(try ModelContainer(for: schema, configurations: configuration))
        let lenses = try context.fetch(FetchDescriptor<Present.Lens>())
        #expect(lenses.count == Self.numbers.count)
        for number in Self.numbers {
            let lens = try #require(lenses.first { $0.name == "\(number)" })
            #expect(lens.zoom == number && lens.zoom.sign == number.sign && lens.maybe == -number)
        }
        let sorted = try context.fetch(FetchDescriptor<Present.Lens>(sortBy: [SortDescriptor(\.zoom)])).map(\.zoom)
        #expect(sorted == Self.numbers.sorted())
        #expect(try context.storeProblems() == [])
    }

    @Test func `a plan migrates a store that has a CGFloat as JSON text`() throws {
        try makeEarlierStore()
        let schema = Schema(versionedSchema: Later.self)
        let container = try ModelContainer(for: schema, migrationPlan: Plan.self, configurations: configuration)
        let lenses = try ModelContext(container).fetch(FetchDescriptor<Later.Lens>())
        #expect(lenses.allSatisfy { "\($0.zoom)" == $0.name && $0.maybe == -$0.zoom })
        #expect(lenses.count == Self.numbers.count)
    }

    @Test func `a CGFloat that is not a number is refused by name before a migration`() throws {
        try makeEarlierStore([1, .nan])
        let schema = Schema(versionedSchema: Present.self)
        let error = #expect(throws: SwiftDataError.self) {
            try ModelContainer(for: schema, configurations: configuration)
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("zoom"))
        let earlier = Schema(versionedSchema: Earlier.self)
        let context = ModelContext(try ModelContainer(for: earlier, configurations: configuration))
        #expect(try context.fetchCount(FetchDescriptor<Earlier.Lens>()) == 2)
    }
}
