@testable import ObjectGraph
import Testing

/// The registered objects of a context and their keys.
@Suite struct IdentityMapTests {
    @Test(arguments: StoreKind.allCases)
    func `an object is found under its temporary key, and after the save under its permanent key`(
        kind: StoreKind
    ) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author")
        let temporary = author.managedObjectID
        #expect(context.identityMap.object(forKey: temporary.key, of: author.entity) === author)
        #expect(context.identityMap.permanentKey(for: temporary.key, of: author.entity) == 0)
        try context.save()
        let key = author.managedObjectID.key
        #expect(key > 0)
        #expect(context.identityMap.object(forKey: temporary.key, of: author.entity) == nil)
        #expect(context.identityMap.object(forKey: key, of: author.entity) === author)
        #expect(context.identityMap.permanentKey(for: key, of: author.entity) == key)
    }

    @Test(arguments: StoreKind.allCases)
    func `a temporary key that the program has read leads to the permanent one`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author")
        let temporary = author.managedObjectID
        try context.obtainPermanentIDs(for: [author])
        #expect(context.identityMap.currentKey(of: temporary.key) == author.managedObjectID.key)
        #expect(context.registeredObject(for: temporary) === author)
        try context.save()
        #expect(context.identityMap.currentKey(of: temporary.key) == author.managedObjectID.key)
    }

    @Test(arguments: StoreKind.allCases)
    func `a deleted object has no permanent key`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author")
        try context.save()
        let key = author.managedObjectID.key
        context.delete(author)
        #expect(context.identityMap.permanentKey(for: key, of: author.entity) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `an object leaves the map with a rollback, a reset and its context`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        var context: ManagedObjectContext? = store.context()
        let saved = try #require(context?.make("Author", ["name": "Ōgai"]))
        try context?.save()
        let new = try #require(context?.make("Author", ["name": "Sōseki"]))
        #expect(context?.identityMap.contains(new) == true)
        context?.rollback()
        #expect(context?.identityMap.contains(new) == false)
        #expect(context?.identityMap.contains(saved) == true)
        context?.reset()
        #expect(context?.identityMap.contains(saved) == false)
        context = nil
        #expect(saved["name"] == "Ōgai")
        #expect(new["name"] == "Sōseki")
    }

    @Test(arguments: StoreKind.allCases)
    func `a key in a relationship of another entity leads to no object`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author")
        try context.save()
        let key = author.managedObjectID.key
        let book = try #require(store.model.entitiesByName["Book"])
        let cover = try #require(book.relationship(named: "cover"))
        #expect(context.identityMap.destination(forKey: key, of: cover) == nil)
    }
}
