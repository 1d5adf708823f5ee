import ObjectGraph
import Testing

@Suite("Deletions of objects that gained references from another container") struct RemainingReferenceTests {
    private static let model = Fixtures.model(
        EntityDescription(
            "Owner",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [
                .init("nullified", to: "Item", .many, inverse: "nullifying", deleteRule: .nullify),
                .init("cascaded", to: "Item", .many, inverse: "cascading", deleteRule: .cascade),
                .init("denied", to: "Item", .many, inverse: "denying", deleteRule: .deny),
                .init("ignored", to: "Item", .many, inverse: "ignoring", deleteRule: .noAction),
                .init("needed", to: "Part", .many, inverse: "needing", deleteRule: .nullify),
                .init("linked", to: "Item", .many, inverse: "linking", deleteRule: .nullify),
                .init("locked", to: "Item", .many, inverse: "locking", deleteRule: .deny),
                .init("shared", to: "Item", .many, deleteRule: .cascade),
            ]
        ),
        EntityDescription(
            "Item",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [
                .init("nullifying", to: "Owner", .one, inverse: "nullified"),
                .init("cascading", to: "Owner", .one, inverse: "cascaded"),
                .init("denying", to: "Owner", .one, inverse: "denied"),
                .init("ignoring", to: "Owner", .one, inverse: "ignored"),
                .init("pointing", to: "Owner", .one),
                .init("linking", to: "Owner", .many, inverse: "linked"),
                .init("locking", to: "Owner", .many, inverse: "locked"),
            ]
        ),
        EntityDescription(
            "Part",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("needing", to: "Owner", .one, inverse: "needed", isOptional: false)]
        ),
        EntityDescription(
            "Note",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("about", to: "Owner", .one, isOptional: false)]
        )
    )

    /// The outcome of a deletion.
    private enum Outcome: Equatable {
        /// The deletion is saved, and the referring object stays.
        case isSaved
        /// The deletion is saved, and the referring object is deleted too.
        case cascades
        /// The deletion is reverted.
        case isReverted
        case throwsConflict
        case throwsProblem(entity: String, property: String, ObjectGraphError.ValidationProblem.Reason)
    }

    // context                              another container
    // reads the owner and all its members
    //                                      makes another object refer to the owner, and saves
    // deletes the owner
    // saves
    private func deleteOwner(
        _ kind: StoreKind,
        _ policy: MergePolicy,
        _ entity: String,
        _ property: String,
        isToMany: Bool = false,
        fromOwner: Bool = false
    ) throws -> Outcome {
        let store = try TestStore(kind, Self.model)
        let maker = store.context()
        maker.make("Owner", ["name": "owner"])
        if entity == "Item" { maker.make("Item", ["name": "other"]) }
        try maker.save()

        let context = store.context()
        context.mergePolicy = policy
        let owner = try context.one("Owner")
        for relationship in owner.managedObjectID.entity.relationships { _ = owner[many: relationship.name] }

        let outside = ManagedObjectContext(coordinator: try store.anotherCoordinator())
        let other = try entity == "Item" ? outside.one("Item") : outside.make(entity, ["name": "other"])
        let target = try outside.one("Owner")
        if fromOwner {
            target[many: property] = [other]
        } else if isToMany {
            other[many: property] = [target]
        } else {
            other[one: property] = target
        }
        try outside.save()
        try outside.coordinator.removeAllStores()

        context.delete(owner)
        do {
            try context.save()
        } catch ObjectGraphError.conflicts(let conflicts) {
            #expect(conflicts.map(\.objectID) == [owner.managedObjectID])
            try expectUnchanged(store, context, owner)
            return .throwsConflict
        } catch ObjectGraphError.validation(let problems) {
            try expectUnchanged(store, context, owner)
            guard problems.count == 1 else { return .throwsProblem(entity: "\(problems)", property: "", .tooSmall) }
            return .throwsProblem(
                entity: problems[0].id.entity.name,
                property: problems[0].property,
                problems[0].reason
            )
        }
        #expect(!context.hasChanges)
        #expect(try store.problems().isEmpty)
        let reader = store.context()
        let left = try reader.all(entity)
        guard try reader.all("Owner").isEmpty else {
            #expect(!owner.isObjectDeleted)
            #expect(left.count == 1)
            return .isReverted
        }
        #expect(owner.isObjectDeleted)
        if left.isEmpty { return .cascades }
        if !fromOwner, !isToMany { #expect(left[0][one: property] == nil) }
        return .isSaved
    }

    private func expectUnchanged(_ store: TestStore, _ context: ManagedObjectContext, _ owner: ManagedObject) throws {
        #expect(try store.context().all("Owner").count == 1)
        #expect(try store.problems().isEmpty)
        #expect(owner.hasPendingDeletion)
        context.rollback()
        #expect(!owner.isObjectDeleted)
        try context.save()
    }

    private static let policies: [MergePolicy] = [
        .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    @Test(arguments: StoreKind.allCases, policies)
    func `a reference that the delete rules clear is cleared`(kind: StoreKind, policy: MergePolicy) throws {
        for property in ["nullifying", "ignoring", "pointing"] {
            #expect(try deleteOwner(kind, policy, "Item", property) == .isSaved, "\(property)")
        }
        #expect(try deleteOwner(kind, policy, "Item", "linking", isToMany: true) == .isSaved)
        #expect(try deleteOwner(kind, policy, "Item", "linked", fromOwner: true) == .isSaved)
    }

    @Test(arguments: StoreKind.allCases, policies)
    func `an object under a cascade is deleted too, or keeps the owner`(
        kind: StoreKind,
        policy: MergePolicy
    ) throws {
        let expected: Outcome =
            switch policy {
            case .error: .throwsConflict
            case .mergeByPropertyStoreTrump, .rollback: .isReverted
            case .mergeByPropertyObjectTrump, .overwrite: .cascades
            }
        #expect(try deleteOwner(kind, policy, "Item", "cascading") == expected)
        #expect(try deleteOwner(kind, policy, "Item", "shared", fromOwner: true) == expected)
    }

    @Test(arguments: StoreKind.allCases, policies)
    func `an object under the rule deny keeps the owner`(kind: StoreKind, policy: MergePolicy) throws {
        for property in ["denying", "locking"] {
            let rule = property == "denying" ? "denied" : "locked"
            let expected: Outcome =
                policy == .mergeByPropertyStoreTrump || policy == .rollback
                ? .isReverted : .throwsProblem(entity: "Owner", property: rule, .deletionDenied)
            #expect(
                try deleteOwner(kind, policy, "Item", property, isToMany: property == "locking") == expected,
                "\(property)"
            )
        }
    }

    @Test(arguments: StoreKind.allCases, policies)
    func `a required reference to the owner keeps it`(kind: StoreKind, policy: MergePolicy) throws {
        for (entity, property) in [("Part", "needing"), ("Note", "about")] {
            let expected: Outcome =
                policy == .mergeByPropertyStoreTrump || policy == .rollback
                ? .isReverted : .throwsProblem(entity: entity, property: property, .missingValue)
            #expect(try deleteOwner(kind, policy, entity, property) == expected, "\(property)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `members that the same save moves to another owner do not keep the old one`(kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        let owners = ["a", "b"].map { context.make("Owner", ["name": .text($0)]) }
        let items = (0..<4).map { _ in context.make("Item") }
        items[0][one: "denying"] = owners[0]
        items[1][one: "cascading"] = owners[0]
        owners[0][many: "locked"] = [items[2]]
        owners[0][many: "shared"] = [items[3]]
        let part = context.make("Part")
        part[one: "needing"] = owners[0]
        try context.save()
        items[0][one: "denying"] = owners[1]
        items[1][one: "cascading"] = owners[1]
        owners[0][many: "locked"] = []
        owners[0][many: "shared"] = []
        part[one: "needing"] = owners[1]
        context.delete(owners[0])
        try context.save()
        let reader = store.context()
        #expect(try reader.all("Item").count == 4)
        #expect(try reader.one("Part")[one: "needing"]?["name"] == "b")
        #expect(try reader.one("Owner")[many: "cascaded"].count == 1)
        #expect(try store.problems().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `a batch request deletes nothing that other objects need`(kind: StoreKind) throws {
        for (entity, property) in [("Part", "needing"), ("Note", "about")] {
            let store = try TestStore(kind, Self.model)
            let context = store.context()
            let object = context.make(entity)
            object[one: property] = context.make("Owner")
            try context.save()
            let error = #expect(throws: ObjectGraphError.self) {
                try context.execute(BatchDeleteRequest(store.model.entitiesByName["Owner"]!))
            }
            guard case .validation(let problems)? = error else {
                Issue.record("the error is \(String(describing: error))"); return
            }
            #expect(problems == [.init(id: object.managedObjectID, property: property, reason: .missingValue)])
            #expect(try store.problems().isEmpty)
        }
    }
}
