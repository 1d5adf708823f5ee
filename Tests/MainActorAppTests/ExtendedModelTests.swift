import Foundation
import SealedData
import Testing

nonisolated struct Weight: Codable, Equatable {
    var grams = 0
}

@Model
final class Parcel {
    @MainActor static var openedCount = 0

    var code: String
    var weight = Weight()

    init(code: String, weight: Weight = Weight()) {
        self.code = code
        self.weight = weight
    }
}

nonisolated extension Parcel: Comparable {
    static func < (left: Parcel, right: Parcel) -> Bool { left.code < right.code }
}

nonisolated extension Parcel: Identifiable {
    var id: String { code }
}

/// Extensions of models in a module that is isolated to the main actor.
@Suite struct ExtendedModelTests {
    @Test func `extensions that are not isolated adopt the protocols of Swift`() throws {
        let container = try ModelContainer(
            for: Parcel.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = container.mainContext
        for code in ["b", "c", "a"] { context.insert(Parcel(code: code, weight: Weight(grams: 5))) }
        try context.save()
        let parcels = try context.fetch(FetchDescriptor<Parcel>())
        Parcel.openedCount += parcels.count
        #expect(parcels.sorted().map(\.id) == ["a", "b", "c"])
        #expect(parcels.max()?.code == "c")
        #expect(parcels.allSatisfy { $0.weight == Weight(grams: 5) })
        #expect(Parcel.openedCount == 3)
    }
}
