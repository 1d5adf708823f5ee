import Foundation
@testable import ObjectGraph
@testable import SealedData
import Testing

/// JSON has no form for infinities and NaN.
@Suite("Numbers that are not finite in Codable values")
struct NonFiniteNumberTests {
    struct Sample: Codable, Equatable {
        var value: Double
        var error: Float = 0
        var unit = ""
        var taken = Date(timeIntervalSinceReferenceDate: 0)
    }

    struct Bag: Codable, Equatable {
        var tags: Set<String>
        var weights: [UInt8: Double]
    }

    /// Is decoded as a number if possible.
    enum Setting: Codable, Equatable {
        case number(Double), text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number): try container.encode(number)
            case .text(let text): try container.encode(text)
            }
        }
    }

    @Model final class Series {
        var name: String
        var values: [Double] = [1, .infinity]
        var precise: [Float] = []
        var sample: Sample?
        var bag: Bag?
        var texts: [String] = ["inf", "-inf", "nan"]
        var settings: [Setting] = [.text("inf"), .text("nan"), .number(1)]

        init(_ name: String) { self.name = name }
    }

    private let series: [Series]
    private let context: ModelContext

    init() throws {
        let container = try ModelContainer(
            for: Series.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        context = ModelContext(container)
        series = ["rising", "falling", "unknown", "finite"].map(Series.init)
        series[0].sample = Sample(value: .infinity, error: .infinity, unit: "inf")
        let never = Date(timeIntervalSinceReferenceDate: .infinity)
        series[1].sample = Sample(value: -.infinity, unit: "-inf", taken: never)
        series[1].values = [-.infinity, 2]
        series[1].precise = [-.infinity]
        series[2].sample = Sample(value: .nan, unit: "nan")
        series[2].values = [.nan, 3]
        series[3].sample = Sample(value: 4)
        series[3].values = [4]
        for series in series { context.insert(series) }
    }

    @Test func `values survive saving`() throws {
        try context.save()
        let saved = try ModelContext(context.container).fetch(FetchDescriptor<Series>())
        #expect(saved.map(\.sample?.unit) == ["inf", "-inf", "nan", ""])
        #expect(saved[0].values == [1, .infinity])
        #expect(saved[0].sample == series[0].sample)
        #expect(saved[1].values == [-.infinity, 2])
        #expect(saved[1].precise == [-.infinity])
        #expect(saved[1].sample == series[1].sample)
        #expect(saved[2].values.first?.isNaN == true)
        #expect(saved[2].sample?.value.isNaN == true)
        #expect(saved[3].sample == Sample(value: 4))
    }

    @Test func `texts stay texts`() throws {
        try context.save()
        let saved = try ModelContext(context.container).fetch(FetchDescriptor<Series>())
        for series in saved {
            #expect(series.texts == ["inf", "-inf", "nan"])
            #expect(series.settings == [.text("inf"), .text("nan"), .number(1)])
        }
        let text = "inf"
        let descriptor = FetchDescriptor<Series>(predicate: #Predicate { $0.texts.contains(text) })
        #expect(try ModelContext(context.container).fetchCount(descriptor) == 4)
    }

    /// The text of an infinity would be read as a text.
    @Test func `a number that would be read as a text is not saved`() throws {
        series[0].settings = [.number(.infinity)]
        #expect(throws: (any Error).self) { try context.save() }
        series[0].settings = [.number(7)]
        try context.save()
    }

    @Test func `a text is not read as a number because another number is not finite`() throws {
        series[0].settings = [.text("inf"), .number(.nan)]
        #expect(throws: (any Error).self) { try context.save() }
    }

    /// Sets and dictionaries with other keys than texts are encoded in any order.
    @Test func `numbers beside a set survive saving`() throws {
        var bag = Bag(tags: ["a", "b", "c", "d"], weights: [1: .infinity, 2: 7, 3: -.infinity])
        for number in 0..<5 {
            bag.weights[4] = Double(number)
            series[0].bag = bag
            try context.save()
        }
        #expect(try ModelContext(context.container).fetch(FetchDescriptor<Series>())[0].bag == bag)
    }

    @Test func `a captured date that is not a number is equal to none`() throws {
        let sample = Sample(value: 1, taken: Date(timeIntervalSinceReferenceDate: .nan))
        series[3].sample = sample
        let descriptor = FetchDescriptor<Series>(predicate: #Predicate { $0.sample == sample })
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetch(descriptor) }
    }

    /// The names of the series for which a predicate is true: in memory, before and after saving, and for Foundation.
    private func names(
        _ predicate: Predicate<Series>,
        location: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        let expected = try series.filter { try predicate.evaluate($0) }.map(\.name)
        let descriptor = FetchDescriptor(predicate: predicate)
        let unsaved = try context.fetch(descriptor).map(\.name)
        #expect(unsaved.sorted() == expected.sorted(), "in memory", sourceLocation: location)
        try context.save()
        let saved = try ModelContext(context.container).fetch(descriptor).map(\.name)
        #expect(saved.sorted() == expected.sorted(), "in SQL", sourceLocation: location)
        return expected
    }

    @Test func `an infinity is compared in an array`() throws {
        let (infinity, limit): (Double, Double) = (.infinity, 100)
        #expect(try names(#Predicate { $0.values.contains(infinity) }) == ["rising"])
        #expect(try names(#Predicate { $0.values.contains { $0 > limit } }) == ["rising"])
        #expect(try names(#Predicate { $0.values.contains { $0 < -limit } }) == ["falling"])
        #expect(try names(#Predicate { $0.values.allSatisfy { $0 < limit } }) == ["falling", "finite"])
        #expect(try names(#Predicate { $0.values.count == 2 }) == ["rising", "falling", "unknown"])
        let smallest = -Float.infinity
        #expect(try names(#Predicate { $0.precise.contains(smallest) }) == ["falling"])
    }

    @Test func `an infinity is compared in a structure`() throws {
        let (infinity, limit): (Double, Double) = (.infinity, 100)
        #expect(try names(#Predicate { $0.sample?.value == infinity }) == ["rising"])
        #expect(try names(#Predicate { ($0.sample?.value ?? 0) > limit }) == ["rising"])
        #expect(try names(#Predicate { ($0.sample?.value ?? 0) < -limit }) == ["falling"])
        #expect(try names(#Predicate { $0.sample?.unit == "inf" }) == ["rising"])
        let date = Date(timeIntervalSinceReferenceDate: 10)
        let early = Date(timeIntervalSinceReferenceDate: -10)
        #expect(try names(#Predicate { ($0.sample?.taken ?? early) > date }) == ["falling"])
    }

    @Test func `an array with an infinity is compared with a captured one`() throws {
        let (values, other): ([Double], [Double]) = ([1, .infinity], [-.infinity, 2])
        #expect(try names(#Predicate { $0.values == values }) == ["rising"])
        #expect(try names(#Predicate { $0.values != values && $0.values != other }) == ["unknown", "finite"])
        let unequal: [Double] = [.nan, 3]
        let descriptor = FetchDescriptor<Series>(predicate: #Predicate { $0.values == unequal })
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetch(descriptor) }
    }

    @Test func `parts of a JSON text are read as numbers only where numbers are wanted`() {
        let text = JSONText(#"["inf", "-inf", "nan", "infinity", 1]"#)
        #expect(text.elements(as: .double) == [.real(.infinity), .real(-.infinity), .null, .null, .real(1)])
        #expect(text.elements(as: .float) == [.real(.infinity), .real(-.infinity), .null, .null, .real(1)])
        #expect(text.elements(as: .date) == [.real(.infinity), .real(-.infinity), .null, .null, .real(1)])
        #expect(text.elements(as: .string)?.prefix(3) == [.text("inf"), .text("-inf"), .text("nan")])
        #expect(text.elements(as: .int64) == [.null, .null, .null, .null, .integer(1)])
        #expect(text.elements(as: .decimal)?.prefix(3) == [.null, .null, .null])
    }
}
