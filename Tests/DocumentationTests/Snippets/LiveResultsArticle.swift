// swift-format-ignore-file
// The Swift code of SealedData's article on live results, line by line: a test compares.

import Foundation
import SealedData

@Model final class Voyage {
    var name: String
    var country: String
    var nights: Int

    init(name: String, country: String, nights: Int) {
        self.name = name
        self.country = country
        self.nights = nights
    }
}

@MainActor final class VoyageList {
    @Query(sort: \Voyage.name) var voyages: [Voyage]
}

/// The statements of LiveResults.
@MainActor
func runLiveResultsArticle(write: @escaping @Sendable (String) -> Void) async throws {
    func print(_ values: Any...) { write(values.map { "\($0)" }.joined(separator: " ")) }

    let container = try ModelContainer(for: Voyage.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = container.mainContext
    context.insert(Voyage(name: "Kyoto", country: "Japan", nights: 2))
    context.insert(Voyage(name: "Lisbon", country: "Portugal", nights: 3))
    context.insert(Voyage(name: "Porto", country: "Portugal", nights: 1))
    try context.save()

    let trips = try ResultsObserver(
        filterBy: #Predicate<Voyage> { $0.nights > 1 },
        sortBy: [SortDescriptor(\.name)],
        sectionBy: \.country,
        modelContext: context
    )
    for section in trips.sections ?? .init() {
        print(section.title, section.map(\.name))
    }

    trips.filterBy = #Predicate { $0.nights > 2 }
    trips.sectionBy = nil

    let (url, key) = (URL(filePath: "/dev/null"), EncryptionKey.passphrase("correct horse battery staple"))
    var configuration = ModelConfiguration(url: url, key: key)
    configuration.followsOtherProcesses = true
    precondition(configuration.followsOtherProcesses)

    let token = NotificationCenter.default.addObserver(
        forName: ModelContainer.remoteChange, object: container, queue: .main
    ) { _ in
        MainActor.assumeIsolated { container.mainContext.processPendingChanges() }
    }
    NotificationCenter.default.removeObserver(token)

    var list: [PersistentIdentifier] = []
    let subscription = trips.onChange(of: [\.name]) { changes in
        changes.apply(to: &list)
    }
    context.insert(Voyage(name: "Faro", country: "Portugal", nights: 7))
    try context.save()
    print(list.count)
    subscription.cancel()

    let collected = trips.onChange(collectedFor: .milliseconds(100)) { changes in
        changes.apply(to: &list)
    }
    collected.cancel()

    for await changes in trips.changes() {
        print(changes.insertions.count)
        break
    }

    ModelContainer.current = container
    let voyageList = VoyageList()
    print(voyageList.voyages.count)
    ModelContainer.current = nil
}
