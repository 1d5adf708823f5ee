// swift-format-ignore-file
// The Swift code of SealedData's article on exchanges, line by line: a test compares.

import Foundation
import SealedData

/// The statements of the exchange.
struct ExchangeArticle {
    let write: (String) -> Void

    func print(_ values: Any...) { write(values.map { "\($0)" }.joined(separator: " ")) }

    func container(_ url: URL) throws -> ModelContainer {
        var configuration = ModelConfiguration(url: url, key: .passphrase("secret"))
        configuration.history = HistoryOptions(identifiesObjects: true)
        return try ModelContainer(for: Walk.self, configurations: configuration)
    }

    func exchange(_ container: ModelContainer, _ log: inout [ChangeSet]) throws {
        try receive(container, log)
        while let changes = try container.changeSet() {
            // A service compares and appends in one step.
            if changes.sequence == Int64(log.count + 1) { log.append(changes) }
            try receive(container, log)
        }
    }

    func receive(_ container: ModelContainer, _ log: [ChangeSet]) throws {
        for changes in log.dropFirst(Int(try container.exchangeState().position)) {
            let result = try container.apply(changes, mergePolicy: .mergeByPropertyObjectTrump)
            for conflict in result.conflicts { print(conflict.entity, conflict.property ?? "", conflict.resolution) }
        }
    }

    func run(folder: URL) throws {
        var log: [ChangeSet] = []
        let (first, second) = (try container(folder.appending(path: "1")), try container(folder.appending(path: "2")))
        let contexts = [ModelContext(first), ModelContext(second)]
        contexts[0].insert(Walk(title: "Gion"))
        try contexts[0].save()
        try exchange(first, &log)
        try exchange(second, &log)
        for (context, title) in zip(contexts, ["Nara", "Uji"]) {
            for walk in try context.fetch(FetchDescriptor<Walk>()) { walk.title = title }
            try context.save()
        }
        try exchange(first, &log)
        try exchange(second, &log)
        print(try ModelContext(second).fetch(FetchDescriptor<Walk>()).map(\.title))
    }
}
