import Dispatch
import Foundation
import Guarded
@testable import ObjectGraph
import SealedStore
import TestSupport
import Testing

@Suite("Saves over several stores") struct SeveralStoresTests {
    /// A coordinator with a store for each of three entities.
    private struct Scene {
        static let model = Fixtures.model(
            EntityDescription("Red", attributes: [.init("name", .string, isOptional: true)]),
            EntityDescription(
                "Green",
                attributes: [.init("name", .string, isOptional: true)],
                relationships: [
                    .init("parent", to: "Green", .one, inverse: "children"),
                    .init("children", to: "Green", .many, inverse: "parent", deleteRule: .cascade),
                ]
            ),
            EntityDescription("Blue", attributes: [.init("name", .string, isOptional: true)])
        )
        static let names = ["Red", "Green", "Blue"]

        let kind: StoreKind
        let folder = TemporaryFolder(willRemove: ReferenceBacking.removeAll)
        let coordinator: PersistentStoreCoordinator
        let log = Guarded<[String]>([])
        let switches = Scene.names.map { _ in StoreSwitch() }
        private let singlePhase: Set<String>

        /// - Parameter singlePhase: The entities whose stores save in one step.
        init(_ kind: StoreKind, singlePhase: Set<String> = []) throws {
            self.kind = kind
            coordinator = PersistentStoreCoordinator(model: Self.model)
            self.singlePhase = singlePhase
            try addStores(to: coordinator, Self.names)
        }

        func addStores(to coordinator: PersistentStoreCoordinator, _ names: [String]) throws {
            PersistentStoreCoordinator.registerStoreClass(SwitchedStore.self, type: SwitchedStore.type)
            PersistentStoreCoordinator.registerStoreClass(
                TwoPhaseSwitchedStore.self,
                type: TwoPhaseSwitchedStore.twoPhaseType
            )
            for name in names {
                try coordinator.addPersistentStore(
                    PersistentStoreDescription(
                        type: singlePhase.contains(name) ? SwitchedStore.type : TwoPhaseSwitchedStore.twoPhaseType,
                        url: folder.file("\(name).sealed"),
                        options: kind.options.merging([
                            "kind": kind, "switch": self[name], "log": log, "folder": folder,
                        ]) { $1 },
                        entityNames: [name]
                    )
                )
            }
        }

        func context() -> ManagedObjectContext { ManagedObjectContext(coordinator: coordinator) }

        subscript(name: String) -> StoreSwitch { switches[Self.names.firstIndex(of: name)!] }

        /// The entities that have objects in their stores.
        func saved() throws -> Set<String> {
            let context = context()
            return Set(try Self.names.filter { try context.count(context.request($0)) > 0 })
        }

        func expectNoProblems() throws {
            for name in Self.names {
                let store = try coordinator.store(for: Self.model.entitiesByName[name]!).store as? SwitchedStore
                let problems = try store?.problems()
                #expect(problems == [])
            }
        }
    }

    @Test(arguments: StoreKind.allCases, Scene.names)
    func `a store that fails to write leaves all stores as they were`(kind: StoreKind, failing: String) throws {
        let scene = try Scene(kind)
        let context = scene.context()
        let objects = Scene.names.map { context.make($0, ["name": .text($0)]) }
        scene[failing].failure = .writing
        #expect(throws: SwitchedStore.Failure.self) { try context.save() }
        #expect(try scene.saved().isEmpty)
        #expect(objects.allSatisfy { $0.isInserted })
        scene[failing].failure = nil
        try context.save()
        #expect(try scene.saved() == Set(Scene.names))
        #expect(!context.hasChanges)
        try scene.expectNoProblems()
    }

    @Test(arguments: StoreKind.allCases, Scene.names)
    func `the error of a later commit lists the saved stores, and the next save writes the rest`(
        kind: StoreKind,
        failing: String
    ) throws {
        let scene = try Scene(kind)
        let context = scene.context()
        let parent = context.make("Green", ["name": "parent"])
        let objects = Scene.names.map { context.make($0, ["name": .text($0)]) }
        objects[1][one: "parent"] = parent
        scene[failing].failure = .committing
        let error = #expect(throws: (any Error).self) { try context.save() }
        let saved = try scene.saved()
        switch error {
        case ObjectGraphError.incompleteSave(let save)?:
            #expect(Set(save.savedStores.flatMap(\.entityNames)) == saved)
            #expect(Set(save.unsavedStores.flatMap(\.entityNames)) == Set(Scene.names).subtracting(saved))
            #expect(save.unsavedStores.contains { $0.entityNames == [failing] })
            #expect(save.cause is SwitchedStore.Failure)
        case is SwitchedStore.Failure: #expect(saved.isEmpty, "the store that commits first left nothing saved")
        default: Issue.record("the error is \(String(describing: error))")
        }
        for object in objects + [parent] {
            let isSaved = saved.contains(object.managedObjectID.entity.name)
            #expect(object.isInserted == !isSaved)
            #expect(object.managedObjectID.isTemporary == !isSaved)
        }
        #expect(context.hasChanges)
        scene[failing].failure = nil
        objects[0]["name"] = "changed"
        try context.save()
        #expect(!context.hasChanges)
        let reader = scene.context()
        #expect(try reader.one("Red")["name"] == "changed")
        #expect(try reader.one("Blue")["name"] == "Blue")
        #expect(try reader.all("Green").compactMap { $0[one: "parent"]?["name"] } == ["parent"])
        #expect(parent[many: "children"].count == 1)
        try scene.expectNoProblems()
    }

    @Test(arguments: StoreKind.allCases, Scene.names)
    func `updates and deletions are divided between the stores`(kind: StoreKind, failing: String) throws {
        let scene = try Scene(kind)
        let context = scene.context()
        let objects = Scene.names.map { context.make($0, ["name": "old"]) }
        let doomed = Scene.names.map { context.make($0, ["name": "doomed"]) }
        try context.save()
        for object in objects { object["name"] = "new" }
        for object in doomed { context.delete(object) }
        scene[failing].failure = .committing
        #expect(throws: (any Error).self) { try context.save() }
        for (object, gone) in zip(objects, doomed) {
            let name = object.managedObjectID.entity.name
            let stored = try scene.context().all(name).texts("name")
            #expect(object.isUpdated == (Set(stored) == ["old", "doomed"]), "\(name): \(stored)")
            #expect(gone.hasPendingDeletion == object.isUpdated)
            #expect(gone.isObjectDeleted)
        }
        scene[failing].failure = nil
        try context.save()
        for name in Scene.names { #expect(try scene.context().all(name).texts("name") == ["new"]) }
        try scene.expectNoProblems()
    }

    @Test(arguments: StoreKind.allCases)
    func `stores with a one-phase save are written last, and no other store commits if they fail`(
        kind: StoreKind
    ) throws {
        let scene = try Scene(kind, singlePhase: ["Red"])
        let context = scene.context()
        for name in Scene.names { context.make(name) }
        scene["Red"].failure = .writing
        #expect(throws: SwitchedStore.Failure.self) { try context.save() }
        #expect(try scene.saved().isEmpty)
        scene["Red"].failure = nil
        scene.log.withLock { $0 = [] }
        try context.save()
        let log = scene.log.withLock { $0 }
        #expect(log.first != "write Red" && log.contains("write Red"))
        #expect(log.firstIndex(of: "write Red") == 2, "\(log)")
        #expect(try scene.saved() == Set(Scene.names))
        try scene.expectNoProblems()
    }

    @Test(arguments: StoreKind.allCases)
    func `a merge policy resolves a conflict in one store, and then all stores are saved`(kind: StoreKind) throws {
        let scene = try Scene(kind)
        let context = scene.context()
        context.mergePolicy = .mergeByPropertyObjectTrump
        let objects = Scene.names.map { context.make($0, ["name": "old"]) }
        try context.save()
        let other = PersistentStoreCoordinator(model: Scene.model)
        try scene.addStores(to: other, Scene.names)
        let stranger = ManagedObjectContext(coordinator: other)
        try stranger.one("Green")["name"] = "theirs"
        try stranger.save()
        for object in objects { object["name"] = "mine" }
        try context.save()
        for name in Scene.names { #expect(try scene.context().one(name)["name"] == "mine") }
        try other.removeAllStores()
        try scene.expectNoProblems()
    }

    // first container                       second container, the stores in the opposite order
    // locks a store
    //                                       waits for the same store, holding no other lock
    // locks the next store
    // commits both
    //                                       locks both, commits
    @Test(arguments: StoreKind.allCases)
    func `containers that save to the same stores do not deadlock`(kind: StoreKind) throws {
        let scene = try Scene(kind)
        let other = PersistentStoreCoordinator(model: Scene.model)
        try scene.addStores(to: other, Scene.names.reversed())
        let coordinators = [scene.coordinator, other]
        let failures = Guarded<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { number in
            let context = ManagedObjectContext(coordinator: coordinators[number])
            let names = number == 0 ? Scene.names : Scene.names.reversed()
            do {
                for _ in 0..<40 {
                    for name in names { context.make(name, ["name": .text("\(number)")]) }
                    try context.save()
                }
            } catch {
                failures.withLock { $0.append(error) }
            }
        }
        let errors = failures.withLock { $0.map { "\($0)" } }
        #expect(errors == [])
        let context = scene.context()
        for name in Scene.names { #expect(try context.count(context.request(name)) == 80) }
        try other.removeAllStores()
        try scene.expectNoProblems()
    }
}

/// How a ``SwitchedStore`` fails.
private final class StoreSwitch: Sendable {
    enum Failure: Sendable { case writing, committing }

    private let state = Guarded<Failure?>(nil)

    var failure: Failure? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// Forwards requests to another store, and fails at a chosen step.
///
/// `@unchecked Sendable`: all properties are constants of `Sendable` types.
private class SwitchedStore: IncrementalStore, @unchecked Sendable {
    static let type = "Switched"

    struct Failure: Error {}

    fileprivate let store: any TwoPhaseStore
    fileprivate let failures: StoreSwitch
    private let log: Guarded<[String]>
    private let folder: TemporaryFolder
    private let name: String

    required init(_ description: PersistentStoreDescription, for model: ManagedObjectModel) throws {
        guard let kind = description.options["kind"] as? StoreKind,
            let failures = description.options["switch"] as? StoreSwitch,
            let log = description.options["log"] as? Guarded<[String]>,
            let folder = description.options["folder"] as? TemporaryFolder
        else { throw ObjectGraphError.storeTypeNotRegistered(description.type) }
        store = try kind.openStore(description, for: model)
        self.failures = failures
        self.log = log
        self.folder = folder
        name = description.entityNames?.first ?? ""
    }

    deinit { try? store.close() }

    class func loadMetadata(
        of description: PersistentStoreDescription,
        for model: ManagedObjectModel
    ) throws -> Self {
        try Self(description, for: model)
    }

    var metadata: StoreMetadata { store.metadata }

    func execute(_ request: FetchRequest, with context: RequestContext) throws -> RowBatch {
        try store.execute(request, with: context)
    }

    func execute(_ request: SaveChangesRequest, with context: RequestContext) throws -> SaveResult {
        try beginWriting()
        return try store.execute(request, with: context)
    }

    fileprivate func beginWriting() throws {
        log.withLock { $0.append("write \(name)") }
        if failures.failure == .writing { throw Failure() }
    }

    func newValuesForObject(
        with id: ManagedObjectID,
        with context: RequestContext
    ) throws -> IncrementalStoreNode? { try store.newValuesForObject(with: id, with: context) }

    func newValues(
        forRelationship relationship: Relationship,
        forObjectsWith ids: [ManagedObjectID],
        with context: RequestContext
    ) throws -> RelationshipRows {
        try store.newValues(forRelationship: relationship, forObjectsWith: ids, with: context)
    }

    func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID] {
        try store.obtainPermanentIDs(for: entity, count: count)
    }

    func problems() throws -> [String] { try (store as? SealedStore)?.check().map(\.description) ?? [] }

    func close() throws { try store.close() }
}

private final class TwoPhaseSwitchedStore: SwitchedStore, TwoPhaseStore, @unchecked Sendable {
    static let twoPhaseType = "TwoPhaseSwitched"

    func save(
        _ changes: SaveChangesRequest,
        with context: RequestContext,
        beforeCommit: () throws -> Void
    ) throws -> SaveResult {
        try beginWriting()
        return try store.save(changes, with: context) {
            try beforeCommit()
            // The other stores have committed: for this store a failure here is the same as a failed commit.
            if failures.failure == .committing { throw Failure() }
        }
    }
}
