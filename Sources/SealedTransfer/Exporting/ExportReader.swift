import Foundation
import ObjectGraph
import SealedStore

/// An object of an export.
struct ExportedObject {
    let entity: Entity
    let row: Row
    /// The keys of the members of the written to-many relationships, at the slots of the relationships.
    fileprivate(set) var members: [Int: [Int64]] = [:]

    var key: Int64 { row.key }

    /// The value of an attribute.
    ///
    /// - Throws: errors of the store for a large blob that cannot be read.
    func value(of attribute: Attribute) throws -> Value {
        row.tag(at: attribute.slot) == .deferredBlob
            ? .blob(try row.readBlob(at: attribute.slot)) : row.value(at: attribute.slot)
    }

    /// The key of the destination of a to-one relationship; nil if there is none.
    func destination(of relationship: Relationship) -> Int64? {
        row.tag(at: relationship.slot) == .integer ? row.integer(at: relationship.slot) : nil
    }
}

/// Reads the objects of an export, a page at a time.
final class ExportReader {
    let model: ManagedObjectModel
    /// The exported entities, without abstract ones, in the order of the model.
    let entities: [Entity]
    private let transaction: ExportTransaction
    private let progress: Progress?

    private static let rowsAtOnce = 256
    private static let bytesAtOnce = 4 << 20

    init(
        _ transaction: ExportTransaction,
        _ model: ManagedObjectModel,
        _ entityNames: Set<String>?,
        _ progress: Progress?
    ) throws {
        self.transaction = transaction
        self.model = model
        self.progress = progress
        entities = transaction.entities.filter { !$0.isAbstract && entityNames?.contains($0.name) ?? true }
        let roots = Set(entities.map(\.rootIndex)).sorted().map { model.entities[$0] }
        progress?.totalUnitCount = Int64(max(1, try roots.reduce(0) { try $0 + transaction.count(of: $1) }))
    }

    /// Calls `body` with each object of an entity, without objects of subentities, in the order of the keys.
    func forEachObject(of entity: Entity, _ body: (ExportedObject) throws -> Void) throws {
        let relationships = entity.relationships.filter(\.isWritten)
        var key: Int64 = 0
        while true {
            if progress?.isCancelled ?? false { throw CancellationError() }
            let rows = try transaction.rows(
                of: entity,
                after: key,
                limit: Self.rowsAtOnce,
                byteLimit: Self.bytesAtOnce
            )
            var objects = rows.map { ExportedObject(entity: entity, row: $0) }
            guard let first = objects.first, let last = objects.last else { return }
            // The store returns ascending keys or throws.
            let positions = Dictionary(objects.indices.map { (objects[$0].key, $0) }, uniquingKeysWith: { $1 })
            for relationship in relationships {
                for index in objects.indices { objects[index].members[relationship.slot] = [] }
                try transaction.forEachMember(of: relationship, owners: first.key...last.key) { owner, member in
                    guard let index = positions[owner] else { return }
                    objects[index].members[relationship.slot]?.append(member)
                }
            }
            for object in objects { try body(object) }
            key = last.key
            progress?.completedUnitCount += Int64(objects.count)
        }
    }

    /// Calls `body` with all pairs of a to-many relationship, in the order of the owners and of their members.
    func forEachMember(of relationship: Relationship, _ body: (Int64, Int64) throws -> Void) throws {
        try transaction.forEachMember(of: relationship, owners: 1...Int64.max) { owner, member in
            if progress?.isCancelled ?? false { throw CancellationError() }
            try body(owner, member)
        }
    }

    /// Completes the progress.
    func finish() { progress?.completedUnitCount = progress?.totalUnitCount ?? 0 }
}

extension Relationship {
    /// Whether a to-many relationship is written. Its inverse has the same content if it is to-one, or the canonical
    /// side of a many-to-many relationship, unless the order matters.
    var isWritten: Bool {
        guard isToMany else { return false }
        switch placement {
        case .sourceKey: return false
        case .destinationKey: return isOrdered
        case .joinTable(let isCanonical): return isCanonical || isOrdered
        }
    }
}
