// swift-format-ignore-file
// The Swift code of SealedData's article on the history, line by line: a test compares.

import Foundation
import SealedData

@Model final class Walk {
    @Attribute(.preserveValueOnDeletion) var title: String

    init(title: String) { self.title = title }
}

/// The statements of History.
func runHistoryArticle(url: URL, write: @escaping @Sendable (String) -> Void) throws {
    func print(_ values: Any...) { write(values.map { "\($0)" }.joined(separator: " ")) }

    var configuration = ModelConfiguration(url: url, key: .passphrase("secret"))
    configuration.history = HistoryOptions(maximumAge: 30 * 24 * 3600)

    let container = try ModelContainer(for: Walk.self, configurations: configuration)
    let context = ModelContext(container)
    let first = Walk(title: "Gion")
    context.insert(first)
    try context.save()
    guard let token = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last?.token else { return }
    context.insert(Walk(title: "Uji"))
    first.title = "Nara"
    try context.save()
    context.delete(first)
    try context.save()

    var news = HistoryDescriptor<DefaultHistoryTransaction>()
    news.predicate = #Predicate { $0.token > token && $0.author != "widget" }
    for transaction in try context.fetchHistory(news) {
        for change in transaction.changes {
            switch change {
            case .insert(let insertion): print("new", insertion.changedPersistentIdentifier.entityName)
            case .update(let update as any HistoryUpdate<Walk>):
                    print(update.updatedAttributes.contains { $0 == \Walk.title })
            case .update: break
            case .delete(let deletion as any HistoryDelete<Walk>): print(deletion.tombstone[\.title] ?? "")
            case .delete: break
            }
        }
    }

    try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token <= token }))

    let observer = try HistoryObserver(observedModels: [Walk.self], authors: ["importer"], modelContainer: container)
    print(observer.eventCounter)

    var identified = ModelConfiguration(url: url.appendingPathExtension("identified"), key: .passphrase("secret"))
    identified.history = HistoryOptions(identifiesObjects: true)
    try runIdentifiers(try ModelContainer(for: Walk.self, configurations: identified), write: write)
}

private func runIdentifiers(_ container: ModelContainer, write: (String) -> Void) throws {
    func print(_ value: Any) { write("\(value)") }
    let context = ModelContext(container)
    let walk = Walk(title: "Gion")
    context.insert(walk)
    try context.save()

    let uuid = try context.globalIdentifier(for: walk.persistentModelID)
    print(try uuid.flatMap(context.persistentIdentifier) == walk.persistentModelID)
}
