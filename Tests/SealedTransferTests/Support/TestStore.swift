import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import Testing

/// An open store with a context.
struct TestStore {
    let coordinator: PersistentStoreCoordinator
    let context: ManagedObjectContext

    /// Opens or creates a file.
    ///
    /// - Parameter model: nil for the model of the file.
    init(
        _ url: URL,
        _ model: ManagedObjectModel? = nil,
        key: EncryptionKey = Harbour.key,
        history: HistoryOptions? = nil
    ) throws {
        SealedStore.register()
        var options: [String: any Sendable] = [SealedStore.keyOption: key]
        if let history { options[SealedStore.historyOption] = history }
        let description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            options: options
        )
        coordinator = PersistentStoreCoordinator(model: try model ?? SealedStore.model(of: description))
        try coordinator.addPersistentStore(description)
        context = ManagedObjectContext(coordinator: coordinator)
    }

    func close() throws { try coordinator.removeAllStores() }

    func check() throws {
        for case let store as SealedStore in coordinator.persistentStores { #expect(try store.check() == []) }
    }

    @discardableResult
    func insert(_ entity: String, _ values: [String: Value] = [:]) -> ManagedObject {
        let object = ManagedObject(entity: context.model.entitiesByName[entity]!, insertInto: context)
        for (name, value) in values { object[name] = value }
        return object
    }

    func objects(_ entity: String) throws -> [ManagedObject] {
        try context.fetch(FetchRequest(context.model.entitiesByName[entity]!), as: ManagedObject.self)
    }

    func count(_ entity: String) throws -> Int { try objects(entity).count }
}

extension ManagedObject {
    func set(_ destination: ManagedObject?, for relationship: String) {
        setDestination(destination, forRelationship: relationship)
    }

    func setMembers(_ members: [any GraphObject], for relationship: String) {
        setMembers(members, forRelationship: relationship)
    }
}

/// The content of a store, object by object.
///
/// - Parameter keepsKeys: Whether the keys belong to the content; otherwise the number of an object in the order of the
///   keys stands in place of its key.
func content(of store: TestStore, keepsKeys: Bool = true) throws -> [String: [String]] {
    var content: [String: [String]] = [:]
    var numbers: [ManagedObjectID: String] = [:]
    var objects: [(entity: Entity, object: ManagedObject)] = []
    for entity in store.context.model.entities where !entity.isAbstract {
        var request = FetchRequest(entity)
        request.includesSubentities = false
        for (index, object) in try store.context.fetch(request, as: ManagedObject.self).enumerated() {
            numbers[object.managedObjectID] = "\(entity.name) \(keepsKeys ? Int(object.managedObjectID.key) : index)"
            objects.append((entity, object))
        }
    }
    for (entity, object) in objects {
        var lines: [String] = []
        for property in entity.properties {
            let text: String
            switch property {
            case .attribute(let attribute): text = exactText(object[attribute.name])
            case .relationship(let relationship) where relationship.isToMany:
                let members = object.members(forRelationship: relationship.name)
                    .map { numbers[$0.managedObjectID] ?? "?" }
                text = (relationship.isOrdered ? members : members.sorted()).joined(separator: ", ")
            case .relationship(let relationship):
                let destination = object.destination(forRelationship: relationship.name)
                text = destination.map { numbers[$0.managedObjectID] ?? "?" } ?? "-"
            }
            lines.append("\(property.name)=\(text)")
        }
        content[numbers[object.managedObjectID]!] = lines
    }
    return content
}

/// A text that is the same for two values only if they are the same bit for bit.
private func exactText(_ value: Value) -> String {
    switch value {
    case .null: "null"
    case .integer(let integer): "i\(integer)"
    case .real(let real): "r\(real.bitPattern)"
    case .text(let text): "t" + Array(text.utf8).map { String($0, radix: 16) }.joined(separator: " ")
    case .blob(let data): "b\(data.base64EncodedString())"
    case .uuid(let uuid): "b\(withUnsafeBytes(of: uuid.uuid) { Data($0) }.base64EncodedString())"
    }
}

/// Expects that two stores have the same objects.
func expectEqual(
    _ left: TestStore,
    _ right: TestStore,
    keepsKeys: Bool = true,
    _ comment: Comment? = nil
) throws {
    let left = try content(of: left, keepsKeys: keepsKeys)
    let right = try content(of: right, keepsKeys: keepsKeys)
    #expect(left.count == right.count, comment)
    for name in left.keys.sorted() {
        let (lines, others) = (left[name] ?? [], right[name] ?? [])
        for (line, other) in zip(lines, others) where line != other {
            Issue.record("\(name): \(line.prefix(200)) became \(other.prefix(200)) \(comment.map { "\($0)" } ?? "")")
            return
        }
        #expect(lines.count == others.count, comment)
    }
}
