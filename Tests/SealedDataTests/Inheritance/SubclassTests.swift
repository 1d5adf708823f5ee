import Foundation
import Guarded
import SealedData
import Testing

@Suite("Objects of subclasses")
struct SubclassTests {
    @Test func `a new object has the values of its initializers`() {
        let taxi = Taxi(number: 7)
        #expect(taxi.shifts == ["day"])
        #expect(taxi.name == "Taxi 7")
        #expect(taxi.wheels == 3)
        #expect(taxi.seats == 4)
        #expect(taxi.plate == nil)
        #expect(taxi.kind == .small)
        #expect(taxi.number == 7)
        #expect(taxi.isFree)
    }

    @Test func `a saved object has the values of all its classes`() throws {
        let saved = try Saved(Taxi(number: 7, shifts: ["day", "night"]))
        #expect(saved.model.name == "Taxi 7")
        #expect(saved.model.wheels == 3)
        #expect(saved.model.seats == 4)
        #expect(saved.model.plate == nil)
        #expect(saved.model.kind == .small)
        #expect(saved.model.number == 7)
        #expect(saved.model.shifts == ["day", "night"])
        #expect(saved.model.isFree)
    }

    @Test func `a subclass whose properties have values inherits the initializers`() throws {
        let truck = try Saved(Truck(name: "T")).model
        #expect((truck.name, truck.wheels, truck.load) == ("T", 4, 7.5))
        #expect(try Saved(Bicycle(name: "B")).model.name == "B")
    }

    @Test func `the properties of all classes can be changed`() throws {
        let saved = try Saved(Car(name: "C", seats: 5, plate: "P"))
        let car = saved.model
        #expect(car.plate == "P")
        (car.name, car.seats, car.plate, car.kind) = ("D", 2, nil, .large)
        try saved.context.save()
        let other = ModelContext(saved.context.container)
        let read = try #require(try other.fetch(FetchDescriptor<Car>()).first)
        #expect((read.name, read.seats, read.plate, read.kind) == ("D", 2, nil, .large))
    }

    @Model class Shape {
        var sides = 0
        var order = Counter.next()
        var name: String
        var neighbour: Shape?

        init(_ name: String) {
            self.name = name
            describe()
        }

        func describe() {}
    }

    @Model final class Polygon: Shape {
        var corners: [Double]
        var text = "none"
        var centre: Shape?
        // Evaluated before the superclass has created the object's state.
        @Transient var helper = Shape("helper")
        @Transient var helpers = [Circle(radius: 1), Circle(radius: 2)]

        init(corners: [Double]) {
            let other = Shape("other")
            self.corners = corners
            centre = other
            super.init("polygon of \(Circle(radius: 3).radius)")
        }

        override func describe() { text = "\(name) \(corners.count)" }
    }

    @Model final class Circle: Shape {
        var radius: Double

        init(radius: Double) {
            self.radius = radius
            super.init("circle")
        }

        init?(checked radius: Double) throws {
            if radius < 0 { throw Counter.Failure() }
            if radius == 0 { return nil }
            self.radius = radius
            super.init("checked")
        }
    }

    enum Counter {
        struct Failure: Error {}
        @TaskLocal static var counted = Guarded(0)

        static func next() -> Int {
            counted.withLock { count in
                count += 1
                return count
            }
        }
    }

    @Test func `an initializer of a superclass may call methods that a subclass overrides`() {
        let polygon = Polygon(corners: [1, 2, 3])
        #expect(polygon.text == "polygon of 3.0 3")
    }

    @Test func `initial values may be objects of the superclass`() throws {
        let new = Polygon(corners: [1])
        #expect((new.helper.name, new.helpers.map(\.radius), new.centre?.name) == ("helper", [1, 2], "other"))
        let saved = try Saved(new)
        let polygon = saved.model
        #expect((polygon.corners, polygon.name, polygon.text) == ([1], "polygon of 3.0", "polygon of 3.0 1"))
        #expect(polygon.centre?.name == "other")
        #expect((polygon.helper.name, polygon.helpers.map(\.radius)) == ("helper", [1, 2]))
        #expect(polygon.helper.modelContext == nil)
        #expect(!saved.context.hasChanges)
    }

    @Test func `initial values of the superclass are evaluated for new objects only`() throws {
        try Counter.$counted.withValue(Guarded(0)) {
            let saved = try Saved(Circle(radius: 1))
            let count = Counter.counted.withLock { $0 }
            #expect(saved.model.order < count)
            let circles = try ModelContext(saved.context.container).fetch(FetchDescriptor<Circle>())
            #expect(circles.map(\.order) == [saved.model.order])
            #expect(Counter.counted.withLock { $0 } == count)
        }
    }

    @Test func `a failed initializer leaves no object`() throws {
        #expect(throws: Counter.Failure.self) { try Circle(checked: -1) }
        #expect(try Circle(checked: 0) == nil)
        #expect(Shape("next").name == "next")
        #expect(try Circle(checked: 2)?.radius == 2)
    }

    @Test func `relationships of all classes work outside a context`() {
        let polygon = Polygon(corners: [])
        let circle = Circle(radius: 1)
        polygon.centre = nil
        #expect(polygon.centre == nil)
        circle.neighbour = polygon
        polygon.centre = circle
        #expect(polygon.centre === circle)
        #expect(circle.neighbour === polygon)
        #expect(circle.radius == 1)
    }

    @Test func `constants of an object that is referred to only by a relationship are kept`() {
        let truck = Truck(name: "T")
        do { truck.trailer = Taxi(number: 3) }
        let taxi = truck.trailer as? Taxi
        #expect(taxi?.number == 3)
        #expect(taxi?.name == "Taxi 3")
        #expect(taxi?.shifts == ["day"])
    }

    @Test func `a generic class can be a superclass`() throws {
        let pair = try Saved(Pair([1], "one")).model
        #expect((pair.first, pair.second) == ([1], "one"))
    }

    @Model class Single<Value: Codable> {
        var first: Value
        init(_ first: Value) { self.first = first }
    }

    @Model final class Pair: Single<[Int]> {
        var second: String
        init(_ first: [Int], _ second: String) {
            self.second = second
            super.init(first)
        }
    }
}
