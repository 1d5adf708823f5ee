import Foundation
import SealedData
import Testing

@Suite("Indexes and uniqueness constraints of a class")
struct TableRuleTests {
    @Model final class Place {
        #Index<Place>([\.name], [\.latitude, \.longitude])
        #Unique<Place>([\.code], [\.name, \.code])

        var name: String
        var code: Int
        var latitude = 0.0
        var longitude = 0.0

        init(name: String, code: Int) {
            self.name = name
            self.code = code
        }
    }

    @Model final class Region {
        #Index<Region>(.binary([\.name]))

        var name = "r"
    }

    @Test func `a class with indexes and constraints can be saved`() throws {
        #expect(try Saved(Place(name: "p", code: 1)).model.code == 1)
        #expect(try Saved(Region()).model.name == "r")
    }

    @Test func `indexes and constraints are part of the metadata`() {
        #expect(Place.schemaMetadata.count == Place._$slotCount + 2)
        #expect(Region.schemaMetadata.count == Region._$slotCount + 1)
    }
}
