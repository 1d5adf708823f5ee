import EncryptedSQLite
import Foundation
import ObjectGraph
@testable import SealedStore

/// Compares a store with a mirror that has applied the same change sets and is never changed itself.
struct PendingComparison {
    typealias Content = [String: [String: String]]

    /// The content of the store, the objects by entity and name.
    let own: Content
    /// The content of the mirror.
    let common: Content
    /// What is pending in the store, by the same names.
    let pending: [String: UnexchangedChanges.Difference]
    let entities: [String: Entity]

    /// The first difference of the store that is not pending, or a pending one that is none; nil for none.
    var problem: String? {
        for (object, difference) in pending.sorted(by: { $0.key < $1.key })
        where difference.isKnown != (common[object] != nil) {
            return "the object counts as \(difference.isKnown ? "known" : "new"): \(object)"
        }
        for object in Set(own.keys).union(common.keys).sorted() {
            let difference = pending[object]
            switch (own[object], common[object]) {
            case (nil, _?): if !(difference?.isDeleted ?? false) { return "a deletion is not pending: \(object)" }
            case (_?, nil): if !(difference?.isWhole ?? false) { return "an insertion is not pending: \(object)" }
            case (let own?, let common?):
                for (property, value) in own.sorted(by: { $0.key < $1.key }) where common[property] != value {
                    if isExchanged(property, of: object), !isPending(property, difference) {
                        return "not pending: \(object).\(property) is '\(value)', not '\(common[property] ?? "")'"
                    }
                }
            case (nil, nil): continue
            }
        }
        return nil
    }

    private func isPending(_ property: String, _ difference: UnexchangedChanges.Difference?) -> Bool {
        guard let difference, let slot = difference.entity.propertiesByName[property]?.slot else { return false }
        return difference.contains(slot)
    }

    /// Whether change sets contain a property: the values of the others follow from those of other objects, as do the
    /// pairs of a relationship that is its own inverse.
    private func isExchanged(_ property: String, of object: String) -> Bool {
        let entity = entities[String(object.prefix { $0 != " " })]
        guard let exchanged = entity?.propertiesByName[property].flatMap(ExchangedProperty.init) else { return false }
        return !exchanged.isImplied
    }
}

extension Branch {
    /// What is pending, by entity and global identifier, as in ``content()``; whether a change set has no answer.
    func pendingDifferences() throws -> (differences: [String: UnexchangedChanges.Difference], hasOutstanding: Bool) {
        let opened = try store.opened
        return try opened.database.read { connection in
            guard let record = try ExchangeRecord.read(on: connection) else { return ([:], false) }
            let reading = ExchangeReading(connection: connection, store: opened)
            let changes = try UnexchangedChanges(record, opened, on: connection)
            var found: [String: UnexchangedChanges.Difference] = [:]
            for (place, difference) in changes.objects {
                found["\(difference.entity.name) \(try reading.identifier(of: place))"] = difference
            }
            return (found, !record.outstanding.isEmpty)
        }
    }
}
