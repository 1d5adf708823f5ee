import Foundation
import SealedData

extension SymbolList {
    mutating func addContainers() {
        add("ModelConfiguration", ModelConfiguration.self)
        add("ModelConfiguration.init(isStoredInMemoryOnly:)", { ModelConfiguration(isStoredInMemoryOnly: true) })
        add(
            "ModelConfiguration.init(for:isStoredInMemoryOnly:)",
            {
                ModelConfiguration(for: Probe.self, isStoredInMemoryOnly: true)
            }
        )
        add(
            "ModelConfiguration.init(_:schema:isStoredInMemoryOnly:allowsSave:groupContainer:cloudKitDatabase:)",
            {
                ModelConfiguration(
                    "a",
                    schema: nil,
                    isStoredInMemoryOnly: true,
                    allowsSave: true,
                    groupContainer: .automatic,
                    cloudKitDatabase: .automatic
                )
            }
        )
        add(
            "ModelConfiguration.init(_:schema:url:allowsSave:cloudKitDatabase:)",
            { (url: URL) in
                ModelConfiguration("a", schema: nil, url: url, allowsSave: true, cloudKitDatabase: .none)
            }
        )
        add("ModelConfiguration.id", \ModelConfiguration.id)
        add("ModelConfiguration.url", \ModelConfiguration.url)
        add("ModelConfiguration.name", \ModelConfiguration.name)
        add("ModelConfiguration.groupAppContainerIdentifier", \ModelConfiguration.groupAppContainerIdentifier)
        add("ModelConfiguration.cloudKitContainerIdentifier", \ModelConfiguration.cloudKitContainerIdentifier)
        add("ModelConfiguration.groupContainer", \ModelConfiguration.groupContainer)
        add("ModelConfiguration.cloudKitDatabase", \ModelConfiguration.cloudKitDatabase)
        add("ModelConfiguration.schema", \ModelConfiguration.schema as WritableKeyPath)
        add("ModelConfiguration.allowsSave", \ModelConfiguration.allowsSave)
        add("ModelConfiguration.isStoredInMemoryOnly", \ModelConfiguration.isStoredInMemoryOnly)
        add("ModelConfiguration.validate()", ModelConfiguration.validate)
        add("ModelConfiguration.Store", ModelConfiguration.Store.self)
        add("ModelConfiguration.debugDescription", \ModelConfiguration.debugDescription)
        add(
            "ModelConfiguration.CloudKitDatabase",
            {
                [.automatic, .none, .private("")] as [ModelConfiguration.CloudKitDatabase]
            }
        )
        add(
            "ModelConfiguration.GroupContainer",
            {
                [.automatic, .none, .identifier("")] as [ModelConfiguration.GroupContainer]
            }
        )

        add("ModelContainer", ModelContainer.self)
        add("ModelContainer.remoteChange", { ModelContainer.remoteChange })
        add(
            "ModelContainer.init(for:migrationPlan:configurations:)",
            { (configuration: ModelConfiguration) in
                (
                    try ModelContainer(for: Probe.self, migrationPlan: nil, configurations: configuration),
                    try ModelContainer(for: Schema(), migrationPlan: nil, configurations: configuration),
                    try ModelContainer(for: Schema(), migrationPlan: nil, configurations: [configuration])
                )
            }
        )
        add(
            "ModelContainer.init(for:configurations:)",
            { (configuration: any DataStoreConfiguration) in
                (
                    try ModelContainer(for: Probe.self, configurations: configuration),
                    try ModelContainer(for: Schema(), configurations: [configuration])
                )
            }
        )
        add("ModelContainer.schema", \ModelContainer.schema)
        add("ModelContainer.migrationPlan", \ModelContainer.migrationPlan)
        add("ModelContainer.configurations", \ModelContainer.configurations as ReferenceWritableKeyPath)
        add(
            "ModelContainer.mainContext",
            { @MainActor in $0.mainContext } as @MainActor (ModelContainer) -> ModelContext
        )
        add("ModelContainer.erase()", ModelContainer.erase)
        add("ModelContainer.deleteAllData()", ModelContainer.deleteAllData)
        add("ModelContainer.==(_:_:)", { $0 == $1 } as (ModelContainer, ModelContainer) -> Bool)
    }

    mutating func addDataStores() {
        func use<Store: DataStore>(_ type: Store.Type, _ list: inout SymbolList) {
            list.add("DataStore.Configuration", Store.Configuration.self)
            list.add("DataStore.Snapshot", Store.Snapshot.self)
            list.add("DataStore.identifier", \Store.identifier)
            list.add("DataStore.schema", \Store.schema)
            list.add("DataStore.configuration", \Store.configuration)
            list.add("DataStore.init(_:migrationPlan:)", Store.init(_:migrationPlan:))
            list.add(
                "DataStore.fetch(_:)",
                { (store: Store, request: DataStoreFetchRequest<Probe>) in
                    try store.fetch(request) as DataStoreFetchResult<Probe, Store.Snapshot>
                }
            )
            list.add(
                "DataStore.fetchCount(_:)",
                { (store: Store, request: DataStoreFetchRequest<Probe>) in
                    try store.fetchCount(request)
                }
            )
            list.add(
                "DataStore.fetchIdentifiers(_:)",
                { (store: Store, request: DataStoreFetchRequest<Probe>) in
                    try store.fetchIdentifiers(request)
                }
            )
            list.add(
                "DataStore.save(_:)",
                { (store: Store, request: DataStoreSaveChangesRequest<Store.Snapshot>) in
                    try store.save(request) as DataStoreSaveChangesResult<Store.Snapshot>
                }
            )
            list.add("DataStore.erase()", { (store: Store) in try store.erase() })
            list.add(
                "DataStore.initializeState(for:)",
                { (store: Store, state: EditingState) in store.initializeState(for: state) }
            )
            list.add(
                "DataStore.invalidateState(for:)",
                { (store: Store, state: EditingState) in store.invalidateState(for: state) }
            )
            list.add(
                "DataStore.cachedSnapshots(for:editingState:)",
                { (store: Store, state: EditingState) in
                    try store.cachedSnapshots(for: [], editingState: state) as [PersistentIdentifier: Store.Snapshot]
                }
            )
        }
        add("DataStore", (any DataStore).self)
        use(DefaultStore.self, &self)
        add("DataStoreBatching", (any DataStoreBatching).self)
        add(
            "DataStoreBatching.delete(_:)",
            { (store: DefaultStore, request: DataStoreBatchDeleteRequest<Probe>) in
                try store.delete(request)
            }
        )

        func use<Configuration: DataStoreConfiguration>(_ type: Configuration.Type, _ list: inout SymbolList) {
            list.add("DataStoreConfiguration.Store", Configuration.Store.self)
            list.add("DataStoreConfiguration.name", \Configuration.name)
            list.add("DataStoreConfiguration.schema", \Configuration.schema as WritableKeyPath)
            list.add(
                "DataStoreConfiguration.validate()",
                { (configuration: Configuration) in try configuration.validate() }
            )
        }
        add("DataStoreConfiguration", (any DataStoreConfiguration).self)
        use(ModelConfiguration.self, &self)

        add("DataStoreFetchRequest.descriptor", \DataStoreFetchRequest<Probe>.descriptor)
        add("DataStoreFetchRequest.editingState", \DataStoreFetchRequest<Probe>.editingState)
        add(
            "DataStoreFetchResult.init(descriptor:fetchedSnapshots:relatedSnapshots:)",
            {
                DataStoreFetchResult<Probe, DefaultSnapshot>(
                    descriptor: FetchDescriptor(),
                    fetchedSnapshots: [],
                    relatedSnapshots: [:]
                )
            }
        )
        add("DataStoreFetchResult.descriptor", \DataStoreFetchResult<Probe, DefaultSnapshot>.descriptor)
        add("DataStoreFetchResult.fetchedSnapshots", \DataStoreFetchResult<Probe, DefaultSnapshot>.fetchedSnapshots)
        add("DataStoreFetchResult.relatedSnapshots", \DataStoreFetchResult<Probe, DefaultSnapshot>.relatedSnapshots)
        add("DataStoreSaveChangesRequest.inserted", \DataStoreSaveChangesRequest<DefaultSnapshot>.inserted)
        add("DataStoreSaveChangesRequest.updated", \DataStoreSaveChangesRequest<DefaultSnapshot>.updated)
        add("DataStoreSaveChangesRequest.deleted", \DataStoreSaveChangesRequest<DefaultSnapshot>.deleted)
        add("DataStoreSaveChangesRequest.editingState", \DataStoreSaveChangesRequest<DefaultSnapshot>.editingState)
        add(
            "DataStoreSaveChangesResult.init(for:remappedIdentifiers:snapshotsToReregister:)",
            {
                DataStoreSaveChangesResult<DefaultSnapshot>(
                    for: "",
                    remappedIdentifiers: [:],
                    snapshotsToReregister: [:]
                )
            }
        )
        add("DataStoreSaveChangesResult.storeIdentifier", \DataStoreSaveChangesResult<DefaultSnapshot>.storeIdentifier)
        add(
            "DataStoreSaveChangesResult.remappedIdentifiers",
            \DataStoreSaveChangesResult<DefaultSnapshot>.remappedIdentifiers
        )
        add(
            "DataStoreSaveChangesResult.snapshotsToReregister",
            \DataStoreSaveChangesResult<DefaultSnapshot>.snapshotsToReregister
        )
        add("DataStoreBatchDeleteRequest.editingState", \DataStoreBatchDeleteRequest<Probe>.editingState)
        add("DataStoreBatchDeleteRequest.predicate", \DataStoreBatchDeleteRequest<Probe>.predicate)
        add("DataStoreBatchDeleteRequest.includeSubclasses", \DataStoreBatchDeleteRequest<Probe>.includeSubclasses)
        add("EditingState.id", \EditingState.id)
        add("EditingState.author", \EditingState.author as WritableKeyPath)
        add(
            "DataStoreError",
            {
                [.unsupportedFeature, .preferInMemoryFilter, .preferInMemorySort, .invalidPredicate] as [DataStoreError]
            }
        )
        add("DefaultStore", DefaultStore.self)
        add(
            "DefaultStore.init(_:migrationPlan:)",
            { try DefaultStore($0, migrationPlan: nil) } as (ModelConfiguration) throws -> DefaultStore
        )
        add("DefaultStore.name", \DefaultStore.name)
    }

    mutating func addSnapshots() {
        add("DataStoreSnapshot", (any DataStoreSnapshot).self)
        add("DataStoreSnapshot.persistentIdentifier", \DefaultSnapshot.persistentIdentifier)
        add("DataStoreSnapshot.init(from:relatedBackingDatas:)", DefaultSnapshot.init(from:relatedBackingDatas:))
        add("DataStoreSnapshot.copy(persistentIdentifier:remappedIdentifiers:)", DefaultSnapshot.copy)
        add("DataStoreSnapshotValue", (any DataStoreSnapshotValue).self)
        add("DataStoreSnapshotCodingKey.persistentIdentifier", { DataStoreSnapshotCodingKey.persistentIdentifier })
        add("DataStoreSnapshotCodingKey.modeledProperty(_:)", DataStoreSnapshotCodingKey.modeledProperty)
        add("DefaultSnapshot", DefaultSnapshot.self)
        add(
            "DefaultSnapshot.copy(persistentIdentifier:remappedIdentifiers:)",
            { (snapshot: DefaultSnapshot) in
                snapshot.copy(persistentIdentifier: snapshot.persistentIdentifier)
            }
        )
    }
}
