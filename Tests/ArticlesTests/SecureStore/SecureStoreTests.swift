import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import TestSupport
import Testing

@Suite("The talk about encrypted stores")
final class SecureStoreTests {
    private let folder = TemporaryFolder()
    private let description: PersistentStoreDescription
    private let model: ManagedObjectModel
    private let coordinator: PersistentStoreCoordinator
    private let context: ManagedObjectContext
    private var url: URL { folder.file("messages.store") }

    init() throws {
        model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Chat",
                attributes: [AttributeDescription("title", .string)],
                relationships: [
                    RelationshipDescription("messages", to: "Message", .many, inverse: "chat", deleteRule: .cascade),
                    RelationshipDescription("members", to: "Contact", .many, inverse: "chats"),
                ]
            ),
            EntityDescription(
                "Message",
                attributes: [
                    AttributeDescription("text", .string), AttributeDescription("sent", .date),
                    AttributeDescription("size", .int64, isOptional: true),
                ],
                relationships: [
                    RelationshipDescription("chat", to: "Chat", .one, inverse: "messages"),
                    RelationshipDescription("sender", to: "Contact", .one),
                ],
                indexes: [FetchIndexDescription(["sent"])]
            ),
            EntityDescription("Picture", superentity: "Message", attributes: [AttributeDescription("image", .data)]),
            EntityDescription(
                "Contact",
                attributes: [AttributeDescription("name", .string)],
                relationships: [RelationshipDescription("chats", to: "Chat", .many, inverse: "members")]
            ),
        ])
        // Registered before the store is added, under the type in the description.
        PersistentStoreCoordinator.registerStoreClass(MySecureStore.self, type: MySecureStore.type)
        description = PersistentStoreDescription(
            type: MySecureStore.type,
            url: folder.file("messages.store"),
            options: [SealedStore.keyOption: "the passphrase"]
        )
        coordinator = PersistentStoreCoordinator(model: model)
        let metadata = try coordinator.addPersistentStore(description)
        #expect(metadata.type == MySecureStore.type)
        context = ManagedObjectContext(coordinator: coordinator)
    }

    private func insert(_ entity: String, _ values: [String: Value]) throws -> ManagedObject {
        let object = ManagedObject(entity: try #require(model.entitiesByName[entity]), insertInto: context)
        for (name, value) in values { object[name] = value }
        return object
    }

    /// A chat with two members, a message and a picture, saved.
    private func insertChat() throws {
        let chat = try insert("Chat", ["title": .text("friends")])
        let contacts = try ["a", "b"].map { try insert("Contact", ["name": .text($0)]) }
        chat.setMembers(contacts, forRelationship: "members")
        let message = try insert("Message", ["text": .text("hello"), "sent": .real(1), "size": .integer(5)])
        let picture = try insert(
            "Picture",
            ["text": .text("look"), "sent": .real(2), "image": .blob(Data([1, 2, 3]))]
        )
        chat.setMembers([message, picture], forRelationship: "messages")
        message.setDestination(contacts[0], forRelationship: "sender")
        try context.save()
    }

    private func request(_ entity: String, _ predicate: QueryExpression? = nil) throws -> FetchRequest {
        FetchRequest(try #require(model.entitiesByName[entity]), predicate: predicate)
    }

    private func reader() -> ManagedObjectContext { ManagedObjectContext(coordinator: coordinator) }

    /// The requests that the store receives while `body` runs.
    private func calls(during body: () throws -> Void) rethrows -> [String] {
        MySecureStore.calls.withLock { $0[url] = [] }
        try body()
        return MySecureStore.calls.withLock { $0[url] ?? [] }
    }

    @Test func `every entity becomes a table, with the columns of its subentities, keys and indexes`() throws {
        try coordinator.removeAllStores()
        let definitions = try MySecureStore.definitions(of: description, model)
        func table(_ name: String) -> String {
            definitions.first { $0.hasPrefix("CREATE TABLE \"\(name)\"") } ?? ""
        }
        for name in ["Chat", "Message", "Contact"] { #expect(table(name).contains("\"_id\" INTEGER PRIMARY KEY")) }
        for column in ["text", "sent", "size", "chat", "sender", "image"] {
            #expect(table("Message").contains("\"\(column)\""))
        }
        #expect(table("Picture").isEmpty)
        // To-many relationships have no columns: they are a table of pairs, or the key on the other side.
        #expect(!table("Chat").contains("\"members\""))
        #expect(definitions.contains { $0.contains("\"source\"") && $0.contains("\"target\"") })
        #expect(
            definitions.contains {
                $0.hasPrefix("CREATE INDEX") && $0.contains("\"Message\"") && $0.contains("\"sent\"")
            }
        )
    }

    @Test func `the file is encrypted with the passphrase`() throws {
        try insertChat()
        try coordinator.removeAllStores()
        let bytes = try Data(contentsOf: url)
        #expect(bytes.range(of: Data("SQLite format 3".utf8)) == nil)
        #expect(bytes.range(of: Data("friends".utf8)) == nil)
        var wrong = description
        wrong.options = [SealedStore.keyOption: "another"]
        let other = PersistentStoreCoordinator(model: model)
        #expect(throws: DatabaseError.wrongKey(path: url.path)) { try other.addPersistentStore(wrong) }
        #expect(throws: Never.self) { try other.addPersistentStore(description) }
    }

    @Test func `an unregistered store type is refused`() {
        var unknown = description
        unknown.type = "YourSecureStore"
        #expect(throws: ObjectGraphError.self) {
            try PersistentStoreCoordinator(model: model).addPersistentStore(unknown)
        }
    }

    @Test func `a save obtains permanent identifiers and writes once`() throws {
        let calls = try calls { try insertChat() }
        #expect(calls.filter { $0 == "save" }.count == 1)
        #expect(calls.contains("obtainPermanentIDs"))
        let chat = try #require(try reader().fetchIDs(request("Chat")).first)
        #expect(chat.storeUUID != nil)
        #expect(chat.key == 1)
    }

    @Test func `a fetch has four result types`() throws {
        try insertChat()
        let context = reader()
        let messages = try context.fetch(request("Message"), as: ManagedObject.self)
        #expect(messages.map { $0["text"] } == [.text("hello"), .text("look")])
        #expect(messages.map(\.entity.name) == ["Message", "Picture"])
        #expect(try context.fetchIDs(request("Message")) == messages.map(\.managedObjectID))
        #expect(try context.count(request("Message")) == 2)
        #expect(try context.count(request("Picture")) == 1)
        var dictionaries = DictionaryFetchRequest(try #require(model.entitiesByName["Message"]))
        dictionaries.sort = [QuerySort(.path(try property("Message", "sent")), ascending: false)]
        #expect(try context.fetchDictionaries(dictionaries).map { $0["text"] } == [.text("look"), .text("hello")])
    }

    private func property(_ entity: String, _ name: String) throws -> Property {
        try #require(model.entitiesByName[entity]?.propertiesByName[name])
    }

    @Test func `a fault is filled when it is read`() throws {
        try insertChat()
        let context = reader()
        let id = try #require(try context.fetchIDs(request("Chat")).first)
        let chat = try #require(context.object(with: id) as? ManagedObject)
        #expect(chat.isFault)
        var title: Value?
        let calls = calls { title = chat["title"] }
        #expect(calls == ["newValuesForObject"])
        #expect(title == .text("friends"))
        #expect(!chat.isFault)
    }

    @Test func `relationships have one, no and many destinations`() throws {
        try insertChat()
        let context = reader()
        let messages = try context.fetch(request("Message"), as: ManagedObject.self)
        let chat = try #require(messages[0].destination(forRelationship: "chat") as? ManagedObject)
        #expect(chat["title"] == .text("friends"))
        #expect((messages[0].destination(forRelationship: "sender") as? ManagedObject)?["name"] == .text("a"))
        #expect(messages[1].destination(forRelationship: "sender") == nil)
        let calls = calls {
            let members = chat.members(forRelationship: "members").compactMap { $0 as? ManagedObject }
            #expect(members.map { $0["name"] } == [.text("a"), .text("b")])
        }
        #expect(calls == ["newValue(forRelationship: members)"])
        #expect(chat.members(forRelationship: "messages").count == 2)
    }
}
