import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// R*Tree indexes of numeric attributes.
@Suite struct CoordinateIndexTests {
    private func map() throws -> Library {
        try Library(
            nil,
            model: ManagedObjectModel(entities: [
                EntityDescription(
                    "Place",
                    attributes: [
                        AttributeDescription("name", .string), AttributeDescription("latitude", .double),
                        AttributeDescription("longitude", .double, isOptional: true),
                    ],
                    indexes: [FetchIndexDescription(["latitude", "longitude"], kind: .rtree)]
                ),
                EntityDescription(
                    "City",
                    superentity: "Place",
                    attributes: [
                        AttributeDescription("people", .int64, isOptional: true),
                        AttributeDescription("founded", .date),
                    ],
                    indexes: [FetchIndexDescription(["people", "founded"], kind: .rtree)]
                ),
            ])
        )
    }

    private func place(_ library: Library, _ name: String, _ latitude: Double, _ longitude: Double?) -> ManagedObject {
        library.insert(
            "Place",
            ["name": .text(name), "latitude": .real(latitude), "longitude": longitude.map { .real($0) } ?? .null]
        )
    }

    private func box(
        _ library: Library,
        _ latitude: ClosedRange<Double>,
        _ longitude: ClosedRange<Double>
    ) -> QueryExpression {
        let (first, second) = (library.path("Place", "latitude"), library.path("Place", "longitude"))
        return .and([
            .comparison(.greaterOrEqual, first, .literal(.real(latitude.lowerBound))),
            .comparison(.lessOrEqual, first, .literal(.real(latitude.upperBound))),
            .comparison(.lessOrEqual, .literal(.real(longitude.lowerBound)), second),
            .comparison(.greaterOrEqual, .literal(.real(longitude.upperBound)), second),
        ])
    }

    @Test func `ranges of all properties are looked up in the tree`() throws {
        let map = try map()
        let kyoto = place(map, "Kyoto", 35.01, 135.77)
        _ = place(map, "Tokyo", 35.68, 139.69)
        _ = place(map, "somewhere", 35.01, nil)
        try map.context.save()
        let condition = box(map, 34...36, 135...136)
        #expect(try map.keys("Place", condition) == [kyoto.managedObjectID.key])
        let plan = try map.plan("Place", condition)
        #expect(
            plan.statement.contains(
                #"WHERE t0."_id" IN (SELECT id FROM "_rtree_Place_latitude_longitude" "#
                    + "WHERE max0 >= ? AND min0 <= ? AND max1 >= ? AND min1 <= ?) AND ("
            ),
            "\(plan)"
        )
        #expect(plan.indexes == ["_rtree_Place_latitude_longitude"])
        #expect(plan.scannedTables == [])
    }

    @Test func `a range of one property alone does not use the tree`() throws {
        let map = try map()
        let nowhere = place(map, "somewhere", 35.01, nil)
        try map.context.save()
        let condition = QueryExpression.comparison(.greater, map.path("Place", "latitude"), .literal(.real(35)))
        #expect(try map.keys("Place", condition) == [nowhere.managedObjectID.key])
        #expect(try map.plan("Place", condition).indexes == [])
    }

    @Test func `saves update the tree`() throws {
        let map = try map()
        let places = (0..<5).map { place(map, "\($0)", Double($0), Double($0)) }
        try map.context.save()
        places[0]["latitude"] = .real(3)
        places[0]["longitude"] = .real(3)
        places[1]["longitude"] = .null
        places[2]["name"] = .text("renamed")
        map.context.delete(places[3])
        try map.context.save()
        #expect(try map.keys("Place", box(map, 3...3, 3...3)) == [places[0].managedObjectID.key])
        #expect(try map.keys("Place", box(map, 0...10, 0...10)).count == 3)
        #expect(try map.integers("SELECT count(*) FROM \"_rtree_Place_latitude_longitude\"") == [3])
        #expect(try map.check() == [])
    }

    @Test func `batch requests and erasing update the tree`() throws {
        let map = try map()
        let entity = map.entity("Place")
        try map.context.execute(
            BatchInsertRequest(
                entity,
                objects: (0..<1_000).map {
                    [
                        "name": .text("\($0)"), "latitude": .real(Double($0)),
                        "longitude": $0 % 2 == 0 ? .real(0) : .null,
                    ]
                }
            )
        )
        #expect(try map.keys("Place", box(map, 10...13, 0...0)).count == 2)
        var update = BatchUpdateRequest(
            entity,
            predicate: .comparison(.less, map.path("Place", "latitude"), .literal(.real(100)))
        )
        update.propertiesToUpdate = [
            "longitude": .arithmetic(.add, map.path("Place", "latitude"), .literal(.real(0.5)))
        ]
        try map.context.execute(update)
        #expect(try map.keys("Place", box(map, 10...13, 0...20)).count == 4)
        try map.context.execute(
            BatchDeleteRequest(
                entity,
                predicate: .comparison(.greater, map.path("Place", "latitude"), .literal(.real(11)))
            )
        )
        #expect(try map.keys("Place", box(map, 10...13, 0...20)).count == 2)
        #expect(try map.check() == [])
        try map.coordinator.eraseStores()
        #expect(try map.integers("SELECT count(*) FROM \"_rtree_Place_latitude_longitude\"") == [0])
        #expect(try map.check() == [])
    }

    @Test func `an inherited tree and a tree of a subentity serve its objects`() throws {
        let map = try map()
        let city = map.insert(
            "City",
            [
                "name": .text("Kyoto"), "latitude": .real(35), "longitude": .real(135), "people": .integer(1_463_723),
                "founded": .real(-6_000_000_000),
            ]
        )
        _ = place(map, "a tree", 35, 135)
        try map.context.save()
        let condition = box(map, 34...36, 134...136)
        #expect(try map.keys("City", condition) == [city.managedObjectID.key])
        #expect(try map.keys("Place", condition).count == 2)
        let own = QueryExpression.and([
            .comparison(.greater, map.path("City", "people"), .literal(.integer(1_000_000))),
            .comparison(.less, map.path("City", "founded"), .literal(.real(0))),
        ])
        #expect(try map.keys("City", own) == [city.managedObjectID.key])
        #expect(try map.plan("City", own).indexes == ["_rtree_City_people_founded"])
        #expect(try map.integers("SELECT count(*) FROM \"_rtree_City_people_founded\"") == [1])
    }

    @Test func `results are exact if the tree rounds, and at the limits of its range`() throws {
        let numbers: [Double] = [
            0, -0.0, 0.1, 0.1.nextUp, 0.1.nextDown, 16_777_217, 16_777_216, 1e-45, 1e-50, .leastNonzeroMagnitude,
            -1e-45, 1e38, 3.4e38,
            3.5e38, 1e300, .greatestFiniteMagnitude, -1e300, -3.4e38, .infinity, -.infinity, Double(Int64.max), 1.0 / 3,
        ]
        let map = try map()
        for number in numbers { _ = place(map, "\(number)", number, number) }
        try map.context.save()
        for lower in numbers {
            for upper in numbers where lower <= upper {
                let condition = box(map, lower...upper, lower...upper)
                let expected = numbers.count { (lower...upper).contains($0) }
                #expect(try map.keys("Place", condition).count == expected, "\(lower)...\(upper)")
            }
        }
        #expect(try map.check() == [])
    }

    @Test func `results are exact for integers that no double holds`() throws {
        let numbers: [Int64] = [
            0, .max, .max - 1, .max - 513, .min, .min + 1, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1, (1 << 24) + 1,
        ]
        let map = try map()
        for number in numbers {
            map.insert(
                "City",
                [
                    "name": .text(""), "latitude": .real(0), "people": .integer(number), "founded": .real(0),
                ]
            )
        }
        try map.context.save()
        let (people, founded) = (map.path("City", "people"), map.path("City", "founded"))
        for lower in numbers {
            for upper in numbers where lower <= upper {
                let condition = QueryExpression.and([
                    .comparison(.greaterOrEqual, people, .literal(.integer(lower))),
                    .comparison(.lessOrEqual, people, .literal(.integer(upper))),
                    .comparison(.equal, founded, .literal(.real(0))),
                ])
                let expected = numbers.count { (lower...upper).contains($0) }
                #expect(try map.keys("City", condition).count == expected, "\(lower)...\(upper)")
            }
        }
        #expect(try map.check() == [])
    }

    @Test func `random boxes have the results of in-memory evaluation`() throws {
        var random = SeededGenerator()
        let map = try map()
        let points = (0..<300).map { _ in
            (Double.random(in: -90...90, using: &random), Double.random(in: -180...180, using: &random))
        }
        for point in points { _ = place(map, "", point.0, point.1) }
        try map.context.save()
        for _ in 0..<200 {
            let corners = (points.randomElement(using: &random)!, points.randomElement(using: &random)!)
            let latitudes = min(corners.0.0, corners.1.0)...max(corners.0.0, corners.1.0)
            let longitudes = min(corners.0.1, corners.1.1)...max(corners.0.1, corners.1.1)
            let expected = points.count { latitudes.contains($0.0) && longitudes.contains($0.1) }
            #expect(try map.keys("Place", box(map, latitudes, longitudes)).count == expected, "\(random)")
        }
        #expect(try map.check() == [], "\(random)")
    }

    @Test func `the check finds a tree that does not match its table`() throws {
        let map = try map()
        for number in 0..<3 { _ = place(map, "", Double(number), 0) }
        try map.context.save()
        try map.opened().database.write {
            try $0.execute("DELETE FROM \"_rtree_Place_latitude_longitude\" WHERE id = 2")
            try $0.execute("UPDATE \"_rtree_Place_latitude_longitude\" SET min0 = 7, max0 = 8 WHERE id = 3")
        }
        #expect(
            try map.check() == [
                StoreProblem(.indexMismatch, entity: "Place", property: "latitude+longitude", count: 2, firstKey: 2)
            ]
        )
    }
}
