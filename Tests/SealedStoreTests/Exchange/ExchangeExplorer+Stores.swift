import EncryptedSQLite
import Foundation
import ObjectGraph
@testable import SealedStore
import TestSupport

// The states of stores in files, and the operations that lead from one state to another.

extension ExchangeExplorer {
    // MARK: Operations of stores

    func url(_ state: Int) -> URL { folder.file("\(state).store") }

    func emptyState() throws -> Int {
        let url = folder.file("new.store")
        let branch = try Branch(url, declarations: model.declarations)
        return try close(branch, url)
    }

    func effect(_ operation: Operation, of state: Int) throws -> Effect {
        let key = OperationKey(state: state, operation: operation)
        if let known = effects[key] { return known }
        let copy = folder.file("work.store")
        try? FileManager.default.removeItem(at: copy)
        try FileManager.default.copyItem(at: url(state), to: copy)
        let branch = try Branch(copy, declarations: model.declarations)
        var effect: Effect
        do {
            switch operation {
            case .edit(let store, let edit):
                try perform(edit, store, branch)
                effect = .state(0, changeSet: nil)
            case .make:
                let changes = try branch.coordinator.changeSet().map(number)
                effect = .state(0, changeSet: changes)
            case .apply(let changes):
                try branch.coordinator.apply(changeSets[changes], mergePolicy: policy)
                effect = .state(0, changeSet: nil)
            }
        } catch let error as ObjectGraphError {
            if case .edit = operation { effect = .refused } else { effect = .failed("\(error)") }
        } catch {
            effect = .failed("\(error)")
        }
        let after = try close(branch, copy)
        if case .state(_, let changes) = effect { effect = .state(after, changeSet: changes) }
        effects[key] = effect
        return effect
    }

    func number(_ changes: ChangeSet) -> Int {
        if let known = changeSetNumbers[changes.id] { return known }
        changeSets.append(changes)
        changeSetNumbers[changes.id] = changeSets.count - 1
        return changeSets.count - 1
    }

    func objects(_ entity: String, _ branch: Branch, _ context: ManagedObjectContext) throws -> [ManagedObject] {
        try context.fetch(FetchRequest(branch.entity(entity)), as: ManagedObject.self).sorted {
            name($0) < name($1)
        }
    }

    func name(_ object: ManagedObject) -> String {
        if case .text(let name) = object["name"] { name } else { "" }
    }

    func perform(_ edit: Edit, _ store: Int, _ branch: Branch) throws {
        let context = branch.context
        let albums = try objects(model.album, branch, context)
        let photos = try objects(model.photo, branch, context)
        var inserted: ManagedObject?
        let count = try branch.store.opened.database.read { connection in
            try connection.withUncachedStatement(#"SELECT count(*) FROM "_identity""#) {
                try $0.step() ? $0.integer(at: 0) : 0
            }
        }
        func insert(_ entity: String) -> ManagedObject {
            let object = ManagedObject(entity: branch.entity(entity), insertInto: context)
            object["name"] = .text("\(entity.prefix(1))\(store)\(count)")
            if entity == model.album, model.isUnique { object["code"] = "code" }
            inserted = object
            return object
        }
        switch edit {
        case .insertAlbum: _ = insert(model.album)
        case .insertPhoto(let album):
            let photo = insert(model.photo)
            if let album { toggle(albums[album], photo, model.relationship) }
        case .toggle(let album, let photo, let other):
            toggle(
                albums[album],
                model.isReflexive ? albums[photo] : photos[photo],
                other ? "others" : model.relationship
            )
        case .reverse(let album):
            let members = albums[album].members(forRelationship: model.relationship)
            for member in members.reversed() {
                albums[album].removeMember(member, forRelationship: model.relationship)
                albums[album].addMember(member, forRelationship: model.relationship)
            }
        case .deleteAlbum(let album): context.delete(albums[album])
        case .deletePhoto(let photo): context.delete(photos[photo])
        case .replaceAlbum(let album):
            context.delete(albums[album])
            _ = insert(model.album)
        }
        guard context.hasChanges else { throw ObjectGraphError.storeIsReadOnly }
        try context.save()
        guard let inserted else { return }
        let identifier = identifier(name(inserted))
        let opened = try branch.store.opened
        try opened.writeTransaction { connection in
            try ExchangeReading(connection: connection, store: opened)
                .setIdentifier(identifier, of: ObjectPlace(inserted.managedObjectID))
        }
    }

    func toggle(_ album: ManagedObject, _ other: ManagedObject, _ name: String) {
        switch model.kind {
        case .toOne:
            let isRelated = other.partner("album") === album
            other.setDestination(isRelated ? nil : album, forRelationship: "album")
        case .oneToOne, .partner:
            let isRelated = album.partner(name) === other
            album.setDestination(isRelated ? nil : other, forRelationship: name)
        default:
            if album.members(forRelationship: name).contains(where: { $0 === other }) {
                album.removeMember(other, forRelationship: name)
            } else {
                album.addMember(other, forRelationship: name)
            }
        }
    }

    /// The global identifier that follows from a name of up to eight bytes.
    func identifier(_ name: String) -> UUID {
        var bytes = Array(name.utf8.prefix(16))
        bytes += Array(repeating: 0, count: 16 - bytes.count)
        let identifier = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        names[identifier] = name
        return identifier
    }

    // MARK: States of stores

    /// Closes a store, and returns the number of its state.
    func close(_ branch: Branch, _ url: URL) throws -> Int {
        var content: Content = [:]
        for (object, values) in try branch.content() {
            content[text(object)] = values.mapValues(text)
        }
        let (pending, record, rows) = try describe(branch)
        let state = State(
            content: content,
            pending: pending,
            hasOutstanding: record.contains("\n"),
            position: Int(try branch.coordinator.exchangeState().position),
            problems: try branch.store.check().map(\.description),
            albums: try branch.count(model.album),
            photos: try branch.count(model.photo)
        )
        try branch.coordinator.removeAllStores()
        let lines = content.map { "\($0): \($1.sorted { $0.key < $1.key })" }.sorted()
        let differences = pending.map { "\($0): \(describe($1))" }.sorted()
        let key = (lines + differences + [record, rows]).joined(separator: "\n")
        if let known = stateNumbers[key] { return known }
        let number = states.count
        states.append(state)
        stateNumbers[key] = number
        try FileManager.default.moveItem(at: url, to: self.url(number))
        return number
    }

    /// A text with names in the place of global identifiers.
    func text(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { part in
            UUID(uuidString: String(part)).flatMap { names[$0] } ?? String(part)
        }.joined(separator: " ")
    }

    func describe(_ difference: UnexchangedChanges.Difference) -> String {
        let slots = difference.entity.properties.filter { difference.slots.contains($0.slot) }.map(\.name)
        return "\(difference.isKnown) \(difference.isWhole) \(difference.isDeleted) \(slots)"
    }

    struct RollBack: Error {}

    /// What is pending by object, what would be pending after each of the change sets that were made, and the keys.
    func describe(_ branch: Branch) throws -> ([String: UnexchangedChanges.Difference], String, String) {
        let store = try branch.store.opened
        var pending: [String: UnexchangedChanges.Difference] = [:]
        var (text, keys) = ("", "")
        do {
            try store.writeTransaction { connection in
                let reading = ExchangeReading(connection: connection, store: store)
                keys = try connection.withUncachedStatement(
                    #"SELECT group_concat(hex("uuid") || ' ' || "entity" || ' ' || "key") FROM (SELECT * FROM "_identity" ORDER BY "uuid")"#
                ) { try $0.step() && !$0.isNull(at: 0) ? $0.string(at: 0) : "" }
                let record = try ExchangeRecord.begin(store, on: connection)
                func differences(_ record: ExchangeRecord) throws -> [String: UnexchangedChanges.Difference] {
                    var found: [String: UnexchangedChanges.Difference] = [:]
                    let changes = try UnexchangedChanges(record, store, on: connection)
                    for (place, difference) in changes.objects {
                        let identifier = try reading.identifier(of: place)
                        let root = store.model.entities[place.rootIndex].name
                        found["\(root) \(names[identifier] ?? identifier.uuidString)"] = difference
                    }
                    return found
                }
                pending = try differences(record)
                text = "\(record.position)"
                for outstanding in record.outstanding {
                    do {
                        try store.writeTransaction { connection in
                            var later = record
                            try later.acknowledge(through: outstanding.covered, on: connection)
                            let rest = try differences(later).map { "\($0): \(describe($1))" }.sorted()
                            text += "\n\(outstanding.id) \(rest)"
                            throw RollBack()
                        }
                    } catch is RollBack {}
                }
                throw RollBack()
            }
        } catch is RollBack {}
        return (pending, text, keys)
    }
}
