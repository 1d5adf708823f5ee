import Testing

@testable import SealedData

@Suite("Key paths to persisted properties")
struct PropertyLookupTests {
    @Test func `a key path has a slot and a name`() {
        #expect(PropertyLookup.slot(of: \Travels.Trip.name, in: Travels.Trip.self) == 0)
        #expect(PropertyLookup.name(of: \Travels.Trip.guide, in: Travels.Trip.self) == "guide")
        let properties = PropertyLookup.properties(of: Travels.Trip.self)
        #expect(properties.names == Travels.Trip.schemaMetadata.map(\.name).filter { !$0.contains(".") })
        #expect(properties.slot(named: "code") == 1)
        #expect(properties.keyPath(at: 1) == \Travels.Trip.code)
    }

    @Test func `a transient property, a path and a property of another class have no slot`() {
        #expect(PropertyLookup.slot(of: \Travels.Trip.isSelected, in: Travels.Trip.self) == nil)
        #expect(PropertyLookup.slot(of: \Travels.Trip.guide?.name, in: Travels.Trip.self) == nil)
        #expect(PropertyLookup.slot(of: \Travels.Guide.name, in: Travels.Trip.self) == nil)
    }

    @Test func `many tasks may look properties up concurrently`() async {
        await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<100 {
                group.addTask { PropertyLookup.slot(of: \Kinds.Everything.shape, in: Kinds.Everything.self) }
            }
            for await slot in group { #expect(slot == 19) }
        }
    }
}
