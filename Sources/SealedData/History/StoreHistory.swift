import Foundation
import ObjectGraph

/// The histories of the encrypted stores of a coordinator, read as one.
struct StoreHistory {
    private let coordinator: PersistentStoreCoordinator
    private let classes: HistoryClasses
    /// The stores that record their transactions.
    private let stores: [UUID]

    /// The number of transactions that are read at once.
    private static let pageSize = 256

    /// - Throws: ``SwiftDataError/invalidTransactionFetchRequest`` if no store records its transactions.
    init(_ coordinator: PersistentStoreCoordinator, _ schema: Schema) throws {
        self.coordinator = coordinator
        classes = HistoryClasses(schema)
        stores = try coordinator.sealedStores.map(\.metadata.uuid)
            .filter { try coordinator.historyState(ofStore: $0).isRecording }
        guard !stores.isEmpty else {
            throw SwiftDataError(
                .invalidTransactionFetchRequest,
                "no store of the container records its history: set the property 'history' of a ModelConfiguration"
            )
        }
    }

    /// The last transaction of each store as a token.
    func lastToken() throws -> DefaultHistoryToken {
        var numbers: [String: Int64] = [:]
        for store in stores { numbers[store.uuidString] = try coordinator.historyState(ofStore: store).lastTransaction }
        return DefaultHistoryToken(numbers, storeIdentifier: stores.first?.uuidString ?? "")
    }

    /// Returns the transactions of a descriptor.
    ///
    /// - Throws: ``SwiftDataError/historyTokenExpired``; errors of the predicate and of the stores.
    func fetch(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws -> [DefaultHistoryTransaction] {
        var found: [DefaultHistoryTransaction] = []
        let limit = descriptor.fetchLimit == 0 ? Int.max : Int(clamping: descriptor.fetchLimit)
        try forEach(after: descriptor.predicate.flatMap(DefaultHistoryToken.lowerBound)) { transaction in
            if try descriptor.predicate?.evaluate(transaction) ?? true { found.append(transaction) }
            return !descriptor.sortBy.isEmpty || found.count < limit
        }
        if !descriptor.sortBy.isEmpty { found.sort(using: descriptor.sortBy) }
        return found.count > limit ? Array(found.prefix(limit)) : found
    }

    /// Deletes the transactions of a descriptor.
    func delete(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        guard descriptor.predicate != nil || descriptor.fetchLimit > 0 else {
            for store in stores {
                try coordinator.deleteHistory(HistoryDeletionRequest(.through(.max)), ofStore: store)
            }
            return
        }
        let transactions = try fetch(descriptor)
        for store in stores {
            let numbers = transactions.filter { $0.storeIdentifier == store.uuidString }.map(\.transactionIdentifier)
            guard !numbers.isEmpty else { continue }
            try coordinator.deleteHistory(HistoryDeletionRequest(.numbers(numbers)), ofStore: store)
        }
    }

    /// Calls `body` with transactions until it returns false: those of each store in their order, otherwise by time.
    private func forEach(
        after bound: DefaultHistoryToken?,
        _ body: (DefaultHistoryTransaction) throws -> Bool
    ) throws {
        var numbers = bound?.tokenValue ?? [:]
        var pages = try stores.map { try Page(coordinator, $0, after: numbers[$0.uuidString] ?? 0, Self.pageSize) }
        while let next = pages.indices.filter({ pages[$0].first != nil }).min(by: { left, right in
            (pages[left].first?.timestamp ?? .distantFuture) < (pages[right].first?.timestamp ?? .distantFuture)
        }), let transaction = try pages[next].takeFirst() {
            numbers[transaction.storeUUID.uuidString] = transaction.number
            let token = DefaultHistoryToken(numbers, storeIdentifier: transaction.storeUUID.uuidString)
            guard try body(DefaultHistoryTransaction(transaction, token, classes)) else { return }
        }
    }

    /// Some transactions of one store. The next ones are read when it is empty.
    private struct Page {
        private let coordinator: PersistentStoreCoordinator
        private let store: UUID
        private let size: Int
        /// Whether the caller reads from the beginning of the history, so that no deleted transaction is missing.
        private let isUnbounded: Bool
        private var transactions: ArraySlice<PersistentHistoryTransaction> = []
        private var last: Int64
        private var isAtEnd = false

        init(_ coordinator: PersistentStoreCoordinator, _ store: UUID, after number: Int64, _ size: Int) throws {
            self.coordinator = coordinator
            self.store = store
            self.size = size
            isUnbounded = number <= 0
            last = number
            try fill()
        }

        var first: PersistentHistoryTransaction? { transactions.first }

        mutating func takeFirst() throws -> PersistentHistoryTransaction? {
            let first = transactions.popFirst()
            if transactions.isEmpty, !isAtEnd { try fill() }
            return first
        }

        private mutating func fill() throws {
            do {
                var request = HistoryFetchRequest(after: last, fetchLimit: size)
                request.skipsDeleted = isUnbounded
                let page = try coordinator.history(request, ofStore: store)
                isAtEnd = page.count < size
                last = page.last?.number ?? last
                transactions = page[...]
            } catch let error as PersistentHistoryError {
                throw SwiftDataError(historyError: error)
            }
        }
    }
}

extension SwiftDataError {
    /// The error for one of the history of an encrypted store.
    init(historyError error: PersistentHistoryError) {
        switch error {
        case .expired:
            self.init(
                .historyTokenExpired,
                "fetch the models again, and continue with the token of the last transaction",
                cause: error
            )
        case .notRecorded, .noStore: self.init(.invalidTransactionFetchRequest, nil, cause: error)
        }
    }
}
