import Foundation
import Guarded
import ObjectGraph
import SealedData
import SealedStore
import TestSupport
import Testing

/// Required values that are missing or not valid for their type.
@Suite struct MissingValueTests {
    struct Address: Codable, Equatable { var street: String, number: Int, country: Country }
    enum Country: String, Codable { case japan, peru }
    enum Delivery: Codable, Equatable { case courier(Address, weight: Double), pickUp(String) }
    final class Contact: Codable {
        let phone: String
        init(phone: String) { self.phone = phone }
    }
    /// Refuses empty texts.
    struct NonEmpty: Codable, Equatable {
        let text: String
        init(from decoder: any Decoder) throws {
            text = try decoder.singleValueContainer().decode(String.self)
            guard !text.isEmpty else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "empty"))
            }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }
    /// Refuses placeholder values.
    struct EMail: Codable, Equatable {
        let address: String
        init(_ address: String) { self.address = address }
        init(from decoder: any Decoder) throws {
            address = try decoder.singleValueContainer().decode(String.self)
            guard address.contains("@") else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no address"))
            }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(address)
        }
    }
    indirect enum Tree: Codable, Equatable { case leaf(Int), node(Tree, Tree) }
    struct Chain: Codable, Equatable {
        var name: String, next: [Chain], url: URL, id: UUID, made: Date, counts: [String: Int]
    }
    enum Plain: String, Codable { case first = "1", second = "2" }

    @Model final class Parcel {
        var name: String
        var address: Address
        var delivery: Delivery
        var contact: Contact
        var note: NonEmpty
        var sender: EMail
        var tree: Tree
        var chain: Chain
        var plain: Plain
        var tags: [String]
        var declared = Address(street: "declared", number: 7, country: .peru)
        var optional: Address?

        init(name: String) {
            self.name = name
            address = Address(street: "s", number: 1, country: .peru)
            delivery = .pickUp("shop")
            contact = Contact(phone: "1")
            note = try! JSONDecoder().decode(NonEmpty.self, from: Data(#""n""#.utf8))
            sender = EMail("seen@example.org")
            tree = .node(.leaf(1), .leaf(2))
            chain = Chain(
                name: "",
                next: [],
                url: URL(string: "https://example.org")!,
                id: UUID(),
                made: Date(),
                counts: [:]
            )
            plain = .second
            tags = ["a", "b"]
        }
    }

    private let url: URL
    private let folder = TemporaryFolder()
    private let container: ModelContainer
    private static let key = EncryptionKey.ofTests

    init() throws {
        url = folder.url.appending(path: "parcels.store")
        container = try ModelContainer(
            for: Parcel.self,
            configurations: ModelConfiguration(url: url, key: Self.key)
        )
        let context = ModelContext(container)
        context.insert(Parcel(name: "parcel"))
        try context.save()
    }

    /// Writes to a column as a program without the classes.
    private func write(_ value: Value, to property: String) throws {
        SealedStore.register()
        let description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            options: [SealedStore.keyOption: Self.key]
        )
        let coordinator = PersistentStoreCoordinator(model: try SealedStore.model(of: description))
        try coordinator.addPersistentStore(description)
        let context = ManagedObjectContext(coordinator: coordinator)
        let request = FetchRequest(try #require(coordinator.model.entitiesByName["Parcel"]))
        let object = try #require(try context.fetch(request, as: ManagedObject.self).first)
        object[property] = value
        try context.save()
        try coordinator.removeAllStores()
    }

    private func stored(_ property: String) throws -> Value {
        let description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            isReadOnly: true,
            options: [SealedStore.keyOption: Self.key]
        )
        let coordinator = PersistentStoreCoordinator(model: try SealedStore.model(of: description))
        try coordinator.addPersistentStore(description)
        let context = ManagedObjectContext(coordinator: coordinator)
        let request = FetchRequest(try #require(coordinator.model.entitiesByName["Parcel"]))
        return try #require(try context.fetch(request, as: ManagedObject.self).first)[property]
    }

    private static let properties = [
        "address", "delivery", "contact", "note", "sender", "tree", "chain", "tags", "declared",
    ]

    private static func readAll(_ parcel: Parcel) -> [Any] {
        [
            parcel.address, parcel.delivery, parcel.contact, parcel.note, parcel.sender, parcel.tree, parcel.chain,
            parcel.plain, parcel.tags, parcel.declared, parcel.optional as Any,
        ]
    }

    @Test func `a model that another context deleted before it is read has values of every type`() throws {
        let context = ModelContext(container)
        let parcel = try #require(try context.fetch(FetchDescriptor<Parcel>()).first)
        let other = ModelContext(container)
        let fault = try #require(other.model(for: parcel.persistentModelID) as? Parcel)
        context.delete(parcel)
        try context.save()
        #expect(Self.readAll(fault).count == 11)
        #expect(fault.isDeleted)
        #expect(fault.address == Address(street: "", number: 0, country: .japan))
        #expect(fault.declared == Address(street: "declared", number: 7, country: .peru))
        #expect(fault.note.text == "1")
        #expect(fault.sender == EMail(""), "it is put together of empty values, none of another object")
        #expect(fault.optional == nil)
        #expect(other.readFailures.isEmpty)
        try other.save()
    }

    @Test(arguments: properties)
    func `JSON that is not valid for the type is reported and kept`(property: String) throws {
        let text = Value.text(#"{"unknown":"of another version"}"#)
        try write(text, to: property)
        let context = ModelContext(container)
        let parcel = try #require(try context.fetch(FetchDescriptor<Parcel>()).first)
        _ = Self.readAll(parcel)
        #expect(context.readFailures.map(\.propertyName) == [property])
        let failure = try #require(context.readFailures.first)
        #expect(failure.persistentModelID == parcel.persistentModelID)
        #expect(failure.cause is ReadFailures.UndecodableValue)
        #expect(!failure.description.contains("another version"))
        #expect(throws: ObjectGraphError.self) { try context.fetch(FetchDescriptor<Parcel>()) }
        #expect(try context.fetch(FetchDescriptor<Parcel>()).count == 1)
        parcel.name = "renamed"
        #expect(throws: ObjectGraphError.self) { try context.save() }
        context.forgetReadFailures()
        try context.save()
        #expect(try stored(property) == text)
        #expect(try stored("name") == .text("renamed"))
    }

    @Test func `changes of an array that could not be decoded are not saved`() throws {
        try write(.text(#"[1, 2]"#), to: "tags")
        let context = ModelContext(container)
        let parcel = try #require(try context.fetch(FetchDescriptor<Parcel>()).first)
        parcel.tags.append("c")
        #expect(throws: ObjectGraphError.self) { try context.save() }
        context.rollback()
        try context.save()
        #expect(try stored("tags") == .text("[1, 2]"))
    }

    @Test func `a raw value without a case is reported and kept`() throws {
        try write(.text("3"), to: "plain")
        let context = ModelContext(container)
        let reported = Guarded<[String]>([])
        context.didFailToRead = { failure in reported.withLock { $0.append(failure.description) } }
        let parcel = try #require(try context.fetch(FetchDescriptor<Parcel>()).first)
        #expect(parcel.plain == .first)
        #expect(parcel.plain == .first)
        #expect(reported.withLock { $0 } == ["Parcel.plain: the stored value is not a value of type Plain"])
        context.forgetReadFailures()
        parcel.name = "renamed"
        try context.save()
        #expect(try stored("plain") == .text("3"))
    }

    @Test func `an optional value that cannot be decoded reads as nil and is reported`() throws {
        try write(.text("[]"), to: "optional")
        let context = ModelContext(container)
        let parcel = try #require(try context.fetch(FetchDescriptor<Parcel>()).first)
        #expect(parcel.optional == nil)
        #expect(context.readFailures.map(\.propertyName) == ["optional"])
    }

    @Test func `a model that outlives its context reports unread values`() throws {
        let reported = Guarded<[String]>([])
        func lost() throws -> Parcel {
            let context = ModelContext(container)
            context.didFailToRead = { failure in reported.withLock { $0.append(failure.description) } }
            let id = try #require(try context.fetchIdentifiers(FetchDescriptor<Parcel>()).first)
            return try #require(context.model(for: id) as? Parcel)
        }
        let parcel = try lost()
        _ = Self.readAll(parcel)
        #expect(reported.withLock { $0.count } == 1)
        let report = "Parcel.address: the context of the object no longer exists"
        #expect(reported.withLock { $0.first }?.hasPrefix(report) == true)
        let context = ModelContext(container)
        context.insert(parcel)
        #expect(throws: ObjectGraphError.self) { try context.save() }
    }
}
