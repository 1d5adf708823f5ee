import Foundation
import SealedData

extension SymbolList {
    mutating func addContexts() {
        add("ModelContext", ModelContext.self)
        add("ModelContext.init(_:)", ModelContext.init(_:))
        add("ModelContext.undoManager", \ModelContext.undoManager as ReferenceWritableKeyPath)
        add("ModelContext.container", \ModelContext.container)
        add("ModelContext.autosaveEnabled", \ModelContext.autosaveEnabled as ReferenceWritableKeyPath)
        add("ModelContext.hasChanges", \ModelContext.hasChanges)
        add("ModelContext.insertedModelsArray", \ModelContext.insertedModelsArray)
        add("ModelContext.changedModelsArray", \ModelContext.changedModelsArray)
        add("ModelContext.deletedModelsArray", \ModelContext.deletedModelsArray)
        add("ModelContext.author", \ModelContext.author as ReferenceWritableKeyPath)
        add("ModelContext.editingState", \ModelContext.editingState as ReferenceWritableKeyPath)
        add("ModelContext.model(for:)", ModelContext.model)
        add(
            "ModelContext.registeredModel(for:)",
            { (context: ModelContext, id: PersistentIdentifier) in
                context.registeredModel(for: id) as Probe?
            }
        )
        add("ModelContext.insert(_:)", { (context: ModelContext, probe: Probe) in context.insert(probe) })
        add("ModelContext.delete(_:)", { (context: ModelContext, probe: Probe) in context.delete(probe) })
        add(
            "ModelContext.delete(model:where:includeSubclasses:)",
            { (context: ModelContext) in
                try context.delete(model: Probe.self, where: #Predicate { $0.count == 0 }, includeSubclasses: true)
            }
        )
        add("ModelContext.rollback()", ModelContext.rollback)
        add("ModelContext.processPendingChanges()", ModelContext.processPendingChanges)
        add("ModelContext.transaction(block:)", ModelContext.transaction)
        add("ModelContext.save()", ModelContext.save)
        add(
            "ModelContext.fetch(_:)",
            { (context: ModelContext, descriptor: FetchDescriptor<Probe>) in
                try context.fetch(descriptor)
            }
        )
        add(
            "ModelContext.fetch(_:batchSize:)",
            { (context: ModelContext, descriptor: FetchDescriptor<Probe>) in
                try context.fetch(descriptor, batchSize: 1) as FetchResultsCollection<Probe>
            }
        )
        add(
            "ModelContext.fetchCount(_:)",
            { (context: ModelContext, descriptor: FetchDescriptor<Probe>) in
                try context.fetchCount(descriptor)
            }
        )
        add(
            "ModelContext.fetchIdentifiers(_:)",
            { (context: ModelContext, descriptor: FetchDescriptor<Probe>) in
                try context.fetchIdentifiers(descriptor) as [PersistentIdentifier]
            }
        )
        add(
            "ModelContext.fetchIdentifiers(_:batchSize:)",
            {
                (context: ModelContext, descriptor: FetchDescriptor<Probe>) in
                try context.fetchIdentifiers(descriptor, batchSize: 1) as FetchResultsCollection<PersistentIdentifier>
            }
        )
        add(
            "ModelContext.enumerate(_:batchSize:allowEscapingMutations:block:)",
            {
                (context: ModelContext, descriptor: FetchDescriptor<Probe>) in
                try context.enumerate(descriptor, batchSize: 1, allowEscapingMutations: false) { (_: Probe) in }
            }
        )
        add("ModelContext.willSave", { ModelContext.willSave as Notification.Name })
        add("ModelContext.didSave", { ModelContext.didSave as Notification.Name })
        add(
            "ModelContext.NotificationKey",
            {
                [
                    .queryGeneration, .invalidatedAllIdentifiers, .insertedIdentifiers, .updatedIdentifiers,
                    .deletedIdentifiers,
                ]
                    as [ModelContext.NotificationKey]
            }
        )
        add("ModelContext.==(_:_:)", { $0 == $1 } as (ModelContext, ModelContext) -> Bool)
    }

    mutating func addFetching() {
        add("FetchDescriptor", FetchDescriptor<Probe>.self)
        add("FetchDescriptor.init(predicate:sortBy:)", { FetchDescriptor<Probe>(predicate: nil, sortBy: []) })
        add("FetchDescriptor.predicate", \FetchDescriptor<Probe>.predicate as WritableKeyPath)
        add("FetchDescriptor.sortBy", \FetchDescriptor<Probe>.sortBy as WritableKeyPath)
        add("FetchDescriptor.fetchLimit", \FetchDescriptor<Probe>.fetchLimit as WritableKeyPath)
        add("FetchDescriptor.fetchOffset", \FetchDescriptor<Probe>.fetchOffset as WritableKeyPath)
        add("FetchDescriptor.includePendingChanges", \FetchDescriptor<Probe>.includePendingChanges as WritableKeyPath)
        add("FetchDescriptor.propertiesToFetch", \FetchDescriptor<Probe>.propertiesToFetch as WritableKeyPath)
        add(
            "FetchDescriptor.relationshipKeyPathsForPrefetching",
            \FetchDescriptor<Probe>.relationshipKeyPathsForPrefetching as WritableKeyPath
        )
        add("FetchDescriptor.==(_:_:)", { $0 == $1 } as (FetchDescriptor<Probe>, FetchDescriptor<Probe>) -> Bool)
        add("FetchResultsCollection", FetchResultsCollection<Probe>.self as any RandomAccessCollection.Type)

        add("PersistentIdentifier", PersistentIdentifier.self)
        add("PersistentIdentifier.id", \PersistentIdentifier.id)
        add("PersistentIdentifier.ID", PersistentIdentifier.ID.self)
        add("PersistentIdentifier.entityName", \PersistentIdentifier.entityName)
        add("PersistentIdentifier.storeIdentifier", \PersistentIdentifier.storeIdentifier)
        add(
            "PersistentIdentifier.identifier(for:entityName:primaryKey:)",
            {
                try PersistentIdentifier.identifier(for: "", entityName: "", primaryKey: UUID())
            }
        )
        add("PersistentIdentifier.<(_:_:)", { $0 < $1 } as (PersistentIdentifier, PersistentIdentifier) -> Bool)
        add("PersistentIdentifier.init(from:)", PersistentIdentifier.init(from:))
        add("PersistentIdentifier.encode(to:)", PersistentIdentifier.encode)
    }

    mutating func addConcurrency() {
        add("ModelActor", (any ModelActor).self)
        add("ModelActor.modelContainer", \ProbeActor.modelContainer)
        add("ModelActor.modelExecutor", \ProbeActor.modelExecutor)
        add("ModelActor.unownedExecutor", \ProbeActor.unownedExecutor)
        add("ModelActor.modelContext", { (actor: isolated ProbeActor) in _ = actor.modelContext })
        add(
            "ModelActor.subscript(_:as:)",
            { (actor: isolated ProbeActor, id: PersistentIdentifier) in
                _ = actor[id, as: Probe.self]
            }
        )
        add("ModelExecutor", (any ModelExecutor).self)
        add("ModelExecutor.modelContext", { $0.modelContext } as (any ModelExecutor) -> ModelContext)
        add("SerialModelExecutor", (any SerialModelExecutor).self)
        add("DefaultSerialModelExecutor", DefaultSerialModelExecutor.self)
        add("DefaultSerialModelExecutor.init(modelContext:)", DefaultSerialModelExecutor.init(modelContext:))
        add(
            "DefaultSerialModelExecutor.enqueue(_:)",
            {
                (executor: DefaultSerialModelExecutor, job: consuming ExecutorJob) in executor.enqueue(job)
            }
        )
        add(
            "DefaultSerialModelExecutor.asUnownedSerialExecutor()",
            DefaultSerialModelExecutor.asUnownedSerialExecutor
        )
    }

    mutating func addErrors() {
        add("SwiftDataError", SwiftDataError.self)
        add("SwiftDataError.includePendingChangesWithBatchSize", SwiftDataError.includePendingChangesWithBatchSize)
        add("SwiftDataError.unsupportedPredicate", SwiftDataError.unsupportedPredicate)
        add("SwiftDataError.unsupportedKeyPath", SwiftDataError.unsupportedKeyPath)
        add("SwiftDataError.sortingPendingChangesWithIdentifiers", SwiftDataError.sortingPendingChangesWithIdentifiers)
        add("SwiftDataError.unsupportedSortDescriptor", SwiftDataError.unsupportedSortDescriptor)
        add("SwiftDataError.duplicateConfiguration", SwiftDataError.duplicateConfiguration)
        add("SwiftDataError.configurationFileNameTooLong", SwiftDataError.configurationFileNameTooLong)
        add(
            "SwiftDataError.configurationFileNameContainsInvalidCharacters",
            SwiftDataError.configurationFileNameContainsInvalidCharacters
        )
        add(
            "SwiftDataError.configurationSchemaNotFoundInContainerSchema",
            SwiftDataError.configurationSchemaNotFoundInContainerSchema
        )
        add("SwiftDataError.loadIssueModelContainer", SwiftDataError.loadIssueModelContainer)
        add("SwiftDataError.modelValidationFailure", SwiftDataError.modelValidationFailure)
        add("SwiftDataError.missingModelContext", SwiftDataError.missingModelContext)
        add("SwiftDataError.backwardMigration", SwiftDataError.backwardMigration)
        add("SwiftDataError.unknownSchema", SwiftDataError.unknownSchema)
        add("SwiftDataError.historyTokenExpired", SwiftDataError.historyTokenExpired)
        add("SwiftDataError.invalidTransactionFetchRequest", SwiftDataError.invalidTransactionFetchRequest)
        add("SwiftDataError.~=(_:_:)", { $0 ~= $1 } as (SwiftDataError, any Error) -> Bool)
    }
}
