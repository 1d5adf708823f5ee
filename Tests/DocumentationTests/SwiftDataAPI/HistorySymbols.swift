import Foundation
import SealedData

extension SymbolList {
    mutating func addHistory() {
        add("HistoryTransaction", (any HistoryTransaction).self)
        add("HistoryChange", HistoryChange.self)
        add("HistoryInsert", (any HistoryInsert<Probe>).self)
        add("HistoryUpdate", (any HistoryUpdate<Probe>).self)
        add("HistoryDelete", (any HistoryDelete<Probe>).self)
        add("HistoryToken", (any HistoryToken).self)
        add("HistoryToken.storeIdentifier", \DefaultHistoryToken.storeIdentifier)
        add("HistoryTombstone", HistoryTombstone<Probe>.self)
        add("HistoryDescriptor", HistoryDescriptor<DefaultHistoryTransaction>(predicate: nil, sortBy: []).fetchLimit)
        add("HistoryProviding", DefaultStore.historyType)
        add("DefaultHistoryTransaction", \DefaultHistoryTransaction.bundleIdentifier)
        add("DefaultHistoryInsert", \DefaultHistoryInsert<Probe>.changeIdentifier)
        add("DefaultHistoryUpdate", \DefaultHistoryUpdate<Probe>.updatedAttributes)
        add("DefaultHistoryDelete", \DefaultHistoryDelete<Probe>.tombstone)
        add("DefaultHistoryToken", \DefaultHistoryToken.tokenValue)
        add(
            "ModelContext.fetchHistory(_:)",
            { (context: ModelContext, descriptor: HistoryDescriptor<DefaultHistoryTransaction>) in
                try context.fetchHistory(descriptor)
            }
        )
        add(
            "ModelContext.deleteHistory(_:)",
            { (context: ModelContext, descriptor: HistoryDescriptor<DefaultHistoryTransaction>) in
                try context.deleteHistory(descriptor)
            }
        )
        add("ModelContext.NotificationKey.historyTokens", ModelContext.NotificationKey.historyTokens)
        add("DataStoreSaveChangesResult.historyToken", \DataStoreSaveChangesResult<DefaultSnapshot>.historyToken)
        add(
            "DataStoreSaveChangesResult.init(for:remappedIdentifiers:snapshotsToReregister:historyToken:)",
            { (token: DefaultHistoryToken) in
                DataStoreSaveChangesResult<DefaultSnapshot>(
                    for: "",
                    remappedIdentifiers: [:],
                    snapshotsToReregister: [:],
                    historyToken: token
                )
            }
        )
        add("DefaultStore.TokenType", DefaultStore.TokenType.self)
        add(
            "HistoryObserver",
            { (container: ModelContainer, tokens: [String: any HistoryToken]) in
                try HistoryObserver(
                    historyTokens: tokens,
                    observedModels: [Probe.self],
                    authors: [""],
                    modelContainer: container
                ).eventCounter
            }
        )
    }
}
