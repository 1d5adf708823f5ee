import Foundation
import SealedData

// Model classes with several levels of inheritance, with everything that a class can add.

@Model class Vehicle {
    #Index<Vehicle>([\.name])
    var name: String
    var wheels = 4
    var garage: Garage?
    @Relationship(deleteRule: .cascade, inverse: \Part.vehicle) var parts: [Part] = []

    init(name: String) {
        self.name = name
        self.wheels = wheels
    }
}

/// Assigns its properties before and after the superclass's initializer.
@available(macOS 15, iOS 18, *)
@Model class Car: Vehicle {
    var seats: Int
    var plate: String?
    var kind: Kind = Kind.small
    var drivers: [Driver] = []

    enum Kind: String, Codable { case small, large }

    init(name: String, seats: Int, plate: String? = nil) {
        self.seats = seats
        super.init(name: name)
        self.plate = plate
    }
}

/// The third level, with an additional constraint and constant.
@available(macOS 15, iOS 18, *)
@Model final class Taxi: Car {
    #Unique<Taxi>([\.number])
    let number: Int
    var shifts: [String]
    @Transient var isFree = true

    init(number: Int, shifts: [String] = ["day"]) {
        self.shifts = shifts
        self.number = number
        super.init(name: "Taxi \(number)", seats: 4)
        self.wheels = 3
    }
}

/// Inherits the initializers, since all added properties have initial values.
@Model final class Truck: Vehicle {
    var load = 7.5
    var trailer: Vehicle?
}

/// Adds nothing.
@Model final class Bicycle: Vehicle {}

@Model final class Garage {
    var city: String
    @Relationship(inverse: \Vehicle.garage) var vehicles: [Vehicle] = []
    init(city: String) { self.city = city }
}

@Model final class Part {
    var name: String
    var vehicle: Vehicle?
    init(name: String) { self.name = name }
}

@Model final class Driver {
    var name: String
    @Relationship(inverse: \Car.drivers) var cars: [Car] = []
    init(name: String) { self.name = name }
}
