import Foundation
import ObjectGraph

/// The histories of the encrypted stores of a coordinator, read as one history.
///
/// Transactions are selected without their changes; then the changes of the selected transactions are read.
struct StoreHistory {
    private let coordinator: PersistentStoreCoordinator
    private let classes: HistoryClasses
    /// The stores that record their transactions.
    private let stores: [Store]

    private struct Store {
        let uuid: UUID
        let state: PersistentHistoryState

        var identifier: String { uuid.uuidString }
    }

    /// The largest number of transactions that are read at once.
    private static let pageSize = 256

    /// - Throws: ``SwiftDataError/invalidTransactionFetchRequest`` if no store records its transactions.
    init(_ coordinator: PersistentStoreCoordinator, _ schema: Schema) throws {
        self.coordinator = coordinator
        classes = HistoryClasses(schema)
        stores = try Self.stores(of: coordinator)
        guard !stores.isEmpty else {
            throw SwiftDataError(
                .invalidTransactionFetchRequest,
                "no store of the container records its history: set the property 'history' of a ModelConfiguration"
            )
        }
    }

    private static func stores(of coordinator: PersistentStoreCoordinator) throws -> [Store] {
        try coordinator.sealedStores.map(\.metadata.uuid)
            .map { Store(uuid: $0, state: try coordinator.historyState(ofStore: $0)) }
            .filter(\.state.isRecording)
    }

    // MARK: Positions

    /// The last transactions of the stores, by their identities.
    func lastPositions() -> [String: PersistentHistoryPosition] { Self.lastPositions(stores) }

    private static func lastPositions(_ stores: [Store]) -> [String: PersistentHistoryPosition] {
        stores.reduce(into: [:]) { positions, store in
            positions[store.identifier] = PersistentHistoryPosition(
                number: store.state.lastTransaction,
                timestamp: store.state.lastTimestamp
            )
        }
    }

    /// The tokens of transactions that have just been committed, or noticed, in some stores.
    ///
    /// - Parameter positions: The transactions by store; nil for the last ones.
    /// - Returns: The tokens by the identities of the stores. Each contains the last positions in the other stores.
    static func tokens(
        of positions: [UUID: PersistentHistoryPosition?],
        _ coordinator: PersistentStoreCoordinator
    ) -> [String: any HistoryToken] {
        var all: [String: PersistentHistoryPosition] = [:]
        // A save to the only store knows the position. If the stores cannot be read, the known positions remain.
        if coordinator.sealedStores.count > 1 || positions.values.contains(where: { $0 == nil }) {
            all = lastPositions((try? stores(of: coordinator)) ?? [])
        }
        for case (let store, let position?) in positions { all[store.uuidString] = position }
        return positions.keys.reduce(into: [:]) { tokens, store in
            let identifier = store.uuidString
            guard all[identifier] != nil else { return }
            tokens[identifier] = DefaultHistoryToken(all, storeIdentifier: identifier)
        }
    }

    // MARK: Fetching and deleting

    /// Returns the transactions of a descriptor.
    ///
    /// - Throws: ``SwiftDataError/historyTokenExpired``; errors of the predicate and of the stores.
    func fetch(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws -> [DefaultHistoryTransaction] {
        let selection = Selection(descriptor, stores.map(\.identifier), expires: true)
        do {
            return try withChanges(select(descriptor, selection), selection)
        } catch let error as PersistentHistoryError {
            throw SwiftDataError(historyError: error)
        }
    }

    /// Deletes the transactions of a descriptor.
    func delete(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        let selection = Selection(descriptor, stores.map(\.identifier), expires: false)
        do {
            if selection.isThrough {
                for (store, bounds) in zip(stores, selection.bounds) { try delete(bounds, in: store) }
            } else {
                let transactions = Dictionary(grouping: try select(descriptor, selection), by: \.storeIdentifier)
                for store in stores {
                    guard let numbers = transactions[store.identifier]?.map(\.transactionIdentifier) else { continue }
                    try coordinator.deleteHistory(HistoryDeletionRequest(.numbers(numbers)), ofStore: store.uuid)
                }
            }
        } catch let error as PersistentHistoryError {
            throw SwiftDataError(historyError: error)
        }
    }

    /// Deletes the transactions up to a number, or all.
    private func delete(_ bounds: TransactionBounds, in store: Store) throws {
        // Only checks that the history has the transactions that the caller knows.
        var request = HistoryFetchRequest(fetchLimit: 0)
        request.known = bounds.known
        _ = try coordinator.history(request, ofStore: store.uuid)
        try coordinator.deleteHistory(HistoryDeletionRequest(.through(bounds.through ?? .max)), ofStore: store.uuid)
    }

    /// The transactions to read for a descriptor.
    private struct Selection {
        /// The bounds in each store.
        let bounds: [TransactionBounds]
        let limit: Int
        let order: TransactionOrder
        /// Whether the request fails if transactions were deleted.
        let expires: Bool
        /// The number of transactions of the first page of a store.
        let firstPage: Int
        /// Whether these are all transactions up to a number in each store.
        let isThrough: Bool

        init(
            _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>,
            _ stores: [String],
            expires: Bool
        ) {
            let limit = descriptor.fetchLimit == 0 ? Int.max : Int(clamping: descriptor.fetchLimit)
            bounds = stores.map { .bounds(of: descriptor.predicate, in: $0) }
            order = TransactionOrder(descriptor.sortBy, isOneStore: stores.count == 1)
            firstPage = order == .other ? pageSize : min(limit, pageSize)
            isThrough = descriptor.fetchLimit == 0 && bounds.allSatisfy { $0.isExact && $0.after == nil }
            self.limit = limit
            self.expires = expires
        }
    }

    /// Selects transactions, and returns them without their changes.
    private func select(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>,
        _ selection: Selection
    ) throws -> [DefaultHistoryTransaction] {
        var found: [DefaultHistoryTransaction] = []
        try forEach(selection) { transaction in
            if try descriptor.predicate?.evaluate(transaction.evaluated) ?? true { found.append(transaction) }
            return selection.order == .other || found.count < selection.limit
        }
        guard selection.order == .other else { return found }
        if TransactionOrder.needsChanges(descriptor.sortBy) { found = try withChanges(found, selection) }
        found.sort(using: descriptor.sortBy)
        return found.count > selection.limit ? Array(found.prefix(selection.limit)) : found
    }

    /// Reads the changes of selected transactions.
    private func withChanges(
        _ found: [DefaultHistoryTransaction],
        _ selection: Selection
    ) throws -> [DefaultHistoryTransaction] {
        var transactions: [DefaultHistoryTransaction] = []
        transactions.reserveCapacity(found.count)
        for start in stride(from: 0, to: found.count, by: Self.pageSize) {
            let part = found[start..<min(found.count, start + Self.pageSize)]
            var loaded: [String: [Int64: PersistentHistoryTransaction]] = [:]
            for (store, bounds) in zip(stores, selection.bounds) {
                let numbers = part.filter { $0.storeIdentifier == store.identifier }.map(\.transactionIdentifier)
                guard !numbers.isEmpty else { continue }
                let read = try Self.transactions(numbers, of: store.uuid, coordinator)
                // If a continuous sequence lacks transactions, they were deleted between the two reads.
                guard read.count == numbers.count || bounds.after == nil else {
                    throw SwiftDataError(.historyTokenExpired, nil)
                }
                loaded[store.identifier] = read
            }
            transactions += part.compactMap { transaction in
                loaded[transaction.storeIdentifier]?[transaction.transactionIdentifier]
                    .map { DefaultHistoryTransaction($0, transaction.token, classes) }
            }
        }
        return transactions
    }

    /// Reads transactions with their changes, by their numbers. Deleted transactions are omitted.
    static func transactions(
        _ numbers: [Int64],
        of store: UUID,
        _ coordinator: PersistentStoreCoordinator
    ) throws -> [Int64: PersistentHistoryTransaction] {
        guard let first = numbers.min(), let last = numbers.max() else { return [:] }
        var request = HistoryFetchRequest(after: first - 1, through: last)
        request.numbers = numbers
        request.expiry = .never
        let transactions = try coordinator.history(request, ofStore: store)
        return Dictionary(transactions.map { ($0.number, $0) }) { first, _ in first }
    }

    // MARK: Reading

    /// Calls `body` with transactions until it returns false. Transactions of one store come in their order,
    /// transactions of different stores are ordered by time.
    private func forEach(_ selection: Selection, _ body: (DefaultHistoryTransaction) throws -> Bool) throws {
        var pages = try zip(stores, selection.bounds).map { store, bounds in
            try Page(coordinator, store, bounds, selection, isOneStore: stores.count == 1)
        }
        var positions = Dictionary(uniqueKeysWithValues: zip(stores.map(\.identifier), pages.map(\.start)))
        while let next = pages.indices.filter({ pages[$0].first != nil }).min(by: { left, right in
            (pages[left].first?.timestamp ?? .distantFuture) < (pages[right].first?.timestamp ?? .distantFuture)
        }), let transaction = pages[next].first {
            let (store, window) = (stores[next].identifier, pages[next].window)
            positions[store] = .init(number: transaction.number, timestamp: transaction.timestamp)
            let token = DefaultHistoryToken(positions, storeIdentifier: store)
            let continues = try body(DefaultHistoryTransaction(transaction, token, classes, changes: window))
            try window?.rethrow()
            guard continues else { return }
            try pages[next].removeFirst()
        }
    }

    /// Some transactions of one store, without their changes. The next ones are read when it is empty.
    private struct Page {
        private let coordinator: PersistentStoreCoordinator
        private let store: UUID
        private let bounds: TransactionBounds
        private var request: HistoryFetchRequest
        private var size: Int
        private var transactions: ArraySlice<PersistentHistoryTransaction> = []
        private var isAtEnd: Bool
        private(set) var window: HistoryChangeWindow?
        /// The position before the first transaction.
        private(set) var start = PersistentHistoryPosition(number: 0, timestamp: nil)

        init(
            _ coordinator: PersistentStoreCoordinator,
            _ store: Store,
            _ bounds: TransactionBounds,
            _ selection: Selection,
            isOneStore: Bool
        ) throws {
            self.coordinator = coordinator
            self.store = store.uuid
            self.bounds = bounds
            size = selection.firstPage
            request = HistoryFetchRequest(after: bounds.after?.number ?? 0, through: bounds.through)
            request.includesChanges = false
            request.isDescending = selection.order == .reversedCommits
            request.known = bounds.known
            // A request for one transaction does not need the other transactions.
            request.expiry =
                selection.expires && bounds.after != nil && !bounds.isOneTransaction ? .always : .never
            // The tokens of several stores contain the positions behind other transactions, too.
            if bounds.hasTimes, isOneStore, !bounds.isEmpty {
                request.times = Self.range(bounds)
            }
            isAtEnd = bounds.isEmpty
            if !isAtEnd { try fill() }
            if selection.expires, bounds.isOneTransaction, transactions.isEmpty { try requireTransaction() }
            start = bounds.after ?? start(store.state)
        }

        private static func range(_ bounds: TransactionBounds) -> ClosedRange<Date> {
            let earliest = bounds.earliest ?? Date(timeIntervalSinceReferenceDate: -.infinity)
            return earliest...(bounds.latest ?? Date(timeIntervalSinceReferenceDate: .infinity))
        }

        /// The position before the first transaction that the history still has.
        private func start(_ state: PersistentHistoryState) -> PersistentHistoryPosition {
            if let first = transactions.first, first.number <= state.lastDeletedTransaction {
                return PersistentHistoryPosition(number: max(0, first.number - 1), timestamp: nil)
            }
            return PersistentHistoryPosition(
                number: state.lastDeletedTransaction,
                timestamp: state.lastDeletedTimestamp
            )
        }

        /// Checks that the only transaction of the bounds was not deleted, and does not belong to a later state.
        private func requireTransaction() throws {
            let state = try coordinator.historyState(ofStore: store)
            guard let number = bounds.through, !bounds.hasTimes,
                number <= state.lastDeletedTransaction || number > state.lastTransaction
            else { return }
            throw PersistentHistoryError.expired(lastDeleted: state.lastDeletedTransaction)
        }

        var first: PersistentHistoryTransaction? { transactions.first }

        mutating func removeFirst() throws {
            transactions.removeFirst()
            if transactions.isEmpty, !isAtEnd { try fill() }
        }

        private mutating func fill() throws {
            request.fetchLimit = size
            let page = try coordinator.history(request, ofStore: store)
            request.known = []
            isAtEnd = page.count < size
            size = min(2 * size, pageSize)
            transactions = page[...]
            window = HistoryChangeWindow(coordinator, store, page)
            guard let last = page.last else { return }
            if request.isDescending { request.through = last.number - 1 } else { request.after = last.number }
        }
    }
}

/// The order in which a descriptor asks for transactions.
private enum TransactionOrder {
    /// The order in which transactions are read.
    case commits
    /// The reversed order, in which one store can be read.
    case reversedCommits
    /// Any other order.
    case other

    init(_ sortBy: [SortDescriptor<DefaultHistoryTransaction>], isOneStore: Bool) {
        guard let first = sortBy.first else {
            self = .commits
            return
        }
        // The numbers and tokens are different, so that further descriptors decide nothing.
        let keyPath = first.keyPath
        let isNumber = keyPath == \.transactionIdentifier || keyPath == \.id
        let isOrdered = keyPath == \.token || isNumber && isOneStore
        switch first.order {
        case .forward where isOrdered: self = .commits
        case .reverse where isOrdered && isOneStore: self = .reversedCommits
        default: self = .other
        }
    }

    /// Whether the order may depend on the changes of transactions.
    static func needsChanges(_ sortBy: [SortDescriptor<DefaultHistoryTransaction>]) -> Bool {
        let others: Set<PartialKeyPath<DefaultHistoryTransaction>> = [
            \.token, \.transactionIdentifier, \.id, \.timestamp, \.author, \.storeIdentifier, \.bundleIdentifier,
            \.processIdentifier,
        ]
        return !sortBy.allSatisfy { $0.keyPath.map(others.contains) ?? false }
    }
}

extension SwiftDataError {
    /// The error for an error of the history of an encrypted store.
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
