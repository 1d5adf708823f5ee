import Foundation
import ObjectGraph
import Testing

@Suite struct IdentifierTests {
    @Test(arguments: StoreKind.allCases)
    func `an identifier survives a round trip through its URI`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "x"])
        #expect(author.managedObjectID.uriRepresentation.absoluteString.hasPrefix("sealeddata:///Author/t"))
        try context.save()
        let uri = author.managedObjectID.uriRepresentation
        try store.reopen()
        let id = try store.coordinator.managedObjectID(forURIRepresentation: uri)
        #expect(id == author.managedObjectID)
        #expect(try (store.context().existingObject(with: id) as? ManagedObject)?["name"] == "x")
    }

    @Test(arguments: StoreKind.allCases)
    func `a URI that is not an identifier of the store is refused`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author")
        let temporary = author.managedObjectID.uriRepresentation.absoluteString
        try context.save()
        let good = author.managedObjectID.uriRepresentation.absoluteString
        let uuid = author.managedObjectID.storeUUID!.uuidString
        let bad = [
            temporary, good + "x", good.replacingOccurrences(of: "Author", with: "Stranger"),
            "https://example.com/Author/p1",
            good.replacingOccurrences(of: uuid, with: UUID().uuidString), "sealeddata://\(uuid)/Author/p0",
            "sealeddata://\(uuid)/Author/p-1", "sealeddata://\(uuid)/Author", "sealeddata://\(uuid)/Author/p1/p1", "x:",
        ]
        for text in bad {
            #expect(throws: ObjectGraphError.self, "\(text)") {
                try store.coordinator.managedObjectID(forURIRepresentation: URL(string: text)!)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an identifier is never reused`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        var used: Set<ManagedObjectID> = []
        for round in 0..<5 {
            let context = store.context()
            let authors = (0..<3).map { _ in context.make("Author") }
            try context.save()
            for author in authors {
                #expect(used.insert(author.managedObjectID).inserted, "round \(round)")
                context.delete(author)
            }
            try context.save()
            try store.reopen()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an identifier of another store has no object`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let stranger = try TestStore(kind)
        let contexts = [store.context(), stranger.context()]
        for context in contexts {
            context.make("Author", ["name": "x"])
            try context.save()
        }
        let id = try contexts[1].one("Author").managedObjectID
        #expect(try contexts[0].existingObject(with: id) == nil)
        #expect(contexts[0].registeredObject(for: id) == nil)
        #expect(contexts[0].object(with: id).isObjectDeleted)
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `a temporary identifier finds its object after the save`(kind: StoreKind, isReleased: Bool) throws {
        let store = try TestStore(kind)
        let context = store.context()
        var author: ManagedObject? = context.make("Author", ["name": "x"])
        let temporary = author!.managedObjectID
        #expect(context.registeredObject(for: temporary) === author)
        #expect(context.object(with: temporary) === author)
        try context.save()
        let permanent = author!.managedObjectID
        #expect(!permanent.isTemporary)
        if isReleased {
            author = nil
            context.reset()
        } else {
            #expect(context.registeredObject(for: temporary) === author)
        }
        let found = context.object(with: temporary)
        #expect(found.managedObjectID == permanent)
        #expect((found as? ManagedObject)?["name"] == "x")
        #expect(!found.isObjectDeleted)
        #expect(try context.existingObject(with: temporary) === found)
        #expect(context.objects(with: [temporary]).first === found)
        context.delete(found)
        try context.save()
        #expect(context.object(with: temporary).isObjectDeleted)
    }

    @Test(arguments: StoreKind.allCases)
    func `identifiers of an object with a permanent identifier before its save lead to it for good`(
        kind: StoreKind
    ) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let (kept, undone) = (context.make("Author"), context.make("Author"))
        let temporary = [kept.managedObjectID, undone.managedObjectID]
        try context.obtainPermanentIDs(for: [kept, undone])
        context.delete(undone)
        try context.save()
        #expect(context.object(with: temporary[0]) === kept)
        #expect(context.object(with: temporary[1]).isObjectDeleted)
        #expect(context.registeredObject(for: temporary[1]) == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `a temporary identifier of a child context finds the object after its save`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let child = ManagedObjectContext(parent: context)
        let author = child.make("Author", ["name": "x"])
        let temporary = author.managedObjectID
        try child.save()
        #expect(child.object(with: temporary) === author)
        try context.save()
        #expect(child.object(with: temporary) === author)
    }

    @Test(arguments: StoreKind.allCases)
    func `an object without a read identifier leaves no temporary key behind`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author")
        let temporary = ManagedObjectID(entity: author.entity, storeUUID: nil, key: author._$queryKey)
        try context.save()
        #expect(context.registeredObject(for: temporary) == nil)
        #expect(context.object(with: temporary).isObjectDeleted)
    }

    @Test(arguments: StoreKind.allCases)
    func `identifiers of coordinators with equal models are equal`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "x"])
        try context.save()
        let coordinator = try store.anotherCoordinator()
        let other = ManagedObjectContext(coordinator: coordinator)
        let found = try #require(try other.existingObject(with: author.managedObjectID))
        #expect(found.managedObjectID == author.managedObjectID)
        #expect(Set([found.managedObjectID, author.managedObjectID]).count == 1)
        try coordinator.removeAllStores()
    }
}
