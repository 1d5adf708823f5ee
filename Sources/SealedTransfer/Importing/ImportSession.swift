import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore

/// One import: takes the objects of a source, gives them keys, and writes them in batches.
///
/// A reference may lead to an object that comes later in the source. Its key is reserved when the reference is read, so
/// that each row is written once. Members of to-many relationships are recorded and written at the end, when all
/// objects are there; then all rules of the model are checked.
///
/// If objects of the store are updated, or objects have several identifiers, the source is read twice: first to find
/// the key of each object, then to write.
final class ImportSession {
    /// The parts of an import that read the source.
    enum Phase {
        case identifying, writing
    }

    /// The model of the store.
    let model: ManagedObjectModel
    let options: ImportOptions
    private let defaultValues: SealedStore.DefaultValues?
    private(set) var phase = Phase.writing
    private var findings: ImportFindings
    private var keys: ImportKeys
    private var pending = PendingRows()
    private let progress: Progress?
    private let transaction: ImportTransaction
    private let records: IdentifierTable.Records
    private var unitsBefore: Int64 = 0
    /// The units of all readings of the source.
    private var lastUnit: Int64 = 1
    private var objectsSinceCheck = 0
    /// Whether existing objects are looked for, by the index of the root entity.
    private var haveObjects: [Int: Bool] = [:]

    init(
        _ model: ManagedObjectModel,
        _ options: ImportOptions,
        _ defaultValues: SealedStore.DefaultValues?,
        _ progress: Progress?,
        _ transaction: ImportTransaction,
        _ records: IdentifierTable.Records
    ) {
        self.model = model
        self.options = options
        self.defaultValues = defaultValues
        self.progress = progress
        self.transaction = transaction
        self.records = records
        findings = ImportFindings(model)
        keys = ImportKeys(model, transaction, records)
    }

    /// Imports all objects of a source.
    ///
    /// - Throws: ``TransferError``; `CancellationError` if the progress is cancelled; errors of the store.
    func run(_ source: any ImportSource) throws -> ImportReport {
        try keys.keepIdentifiers(of: source)
        let isTwofold = source.needsIdentification || options.existingObjects == .update
        // One unit is left for the checks at the end.
        lastUnit = max(1, source.unitCount * (isTwofold ? 2 : 1))
        progress?.totalUnitCount = lastUnit + max(1, lastUnit / 4)
        if isTwofold {
            phase = .identifying
            try source.read(into: self)
            unitsBefore = source.unitCount
            phase = .writing
        }
        try source.read(into: self)
        try pending.write(to: transaction)
        progress?.completedUnitCount = lastUnit
        try finish()
        return findings.finishedReport
    }

    // MARK: What a source calls

    /// Takes an object.
    func add(_ object: ImportedObject) throws {
        guard !object.entity.isAbstract else {
            throw object.place?.error("the entity '\(object.entity.name)' is abstract")
                ?? TransferError.unsupported("an object of the abstract entity '\(object.entity.name)'")
        }
        switch phase {
        case .identifying: try identify(object)
        case .writing: try write(object)
        }
        objectsSinceCheck += 1
        if objectsSinceCheck >= 64 {
            objectsSinceCheck = 0
            if progress?.isCancelled ?? false { throw CancellationError() }
        }
    }

    /// Takes a member of a to-many relationship whose owner and member are other objects of the source.
    func add(
        _ member: ImportedID,
        to relationship: Relationship,
        of owner: ImportedID,
        at position: Int64
    ) throws {
        guard phase == .writing else { return }
        try records.add(
            IdentifierTable.Member(
                relationship: relationship.index,
                owner: keys.key(of: owner, relationship.source),
                member: keys.key(of: member, relationship.destination)
            ),
            at: position
        )
    }

    /// Counts a value that does not fit.
    func countUnfit(_ property: String, of entity: String, _ reason: String, count: Int = 1) {
        if phase == .writing { findings.countUnfit(property, of: entity, reason, count: count) }
    }

    /// Adds a line about a part of the source that is not imported.
    func note(notImported line: String) {
        if phase == .writing { findings.note(notImported: line) }
    }

    /// Adds a property for which the source has no values.
    func note(missing property: String, of entity: String) {
        if phase == .writing { findings.note(missing: property, of: entity) }
    }

    /// Sets the units of the source that the current reading has completed.
    func advance(to units: Int64) throws {
        guard let progress else { return }
        progress.completedUnitCount = min(unitsBefore + units, lastUnit)
        if progress.isCancelled { throw CancellationError() }
    }

    // MARK: Existing objects

    /// Gives all identifiers of an object one key: the key of the store's object with the same unique values, or a new
    /// key.
    private func identify(_ object: ImportedObject) throws {
        guard !object.ids.isEmpty else { return }
        let kept = object.ids.lazy.compactMap { self.keys.keptKey(of: $0) }.first
        let existing = try kept == nil ? updatedKey(of: object) : nil
        let key = try kept ?? existing ?? keys.newKey(of: object.entity)
        for id in object.ids where keys.keptKey(of: id) == nil {
            if try records.find(id) != nil { throw duplicate(object) }
            try records.set(id, key: key, existing == nil ? .identified : .existing)
        }
    }

    private func duplicate(_ object: ImportedObject) -> TransferError {
        object.place?.error("another object of '\(object.entity.name)' has the same identifier")
            ?? .unsupported("a table with two rows of the same key, for '\(object.entity.name)',")
    }

    /// The key of the object of the store that an object updates, because it has the same unique values.
    ///
    /// - Throws: ``TransferError/notUnique(entity:properties:)`` if another object of the source updates it.
    private func updatedKey(of object: ImportedObject) throws -> Int64? {
        guard let (key, slots) = try existingKey(of: object) else { return nil }
        guard try records.update(key, of: object.entity.rootIndex) else { throw notUnique(object.entity, slots) }
        return key
    }

    private func notUnique(_ entity: Entity, _ slots: [Int]) -> TransferError {
        .notUnique(entity: entity.name, properties: slots.map { entity.properties[$0].name })
    }

    /// The key of the object of the store that has the same values of a uniqueness constraint, and the slots of the
    /// constraint.
    private func existingKey(of object: ImportedObject) throws -> (key: Int64, slots: [Int])? {
        guard options.existingObjects == .update, !object.entity.uniquenessConstraints.isEmpty else { return nil }
        let root = model.root(of: object.entity)
        if haveObjects[root.index] == nil { haveObjects[root.index] = try !transaction.isEmpty(root) }
        guard haveObjects[root.index] == true else { return nil }
        var found: (key: Int64, slots: [Int])?
        for slots in object.entity.uniquenessConstraints {
            let values = slots.map { object.values[$0] ?? .null }
            // A constraint over a relationship is left to the store, and null is never equal to another value.
            let areAttributes = slots.allSatisfy { slot in
                if case .attribute = object.entity.properties[slot] { true } else { false }
            }
            guard areAttributes, !values.contains(.null) else { continue }
            let equalities = zip(slots, values).map { slot, value in
                QueryExpression.comparison(.equal, .path(object.entity.properties[slot]), .literal(value))
            }
            let matches = try transaction.keys(of: object.entity, where: .and(equalities))
            guard let match = matches.first else { continue }
            // A match with a new key is an object that the import has taken from the source before.
            guard matches.count == 1, !keys.isNew(match, of: root), found == nil || found?.key == match else {
                throw notUnique(object.entity, slots)
            }
            found = (match, slots)
        }
        return found
    }

    // MARK: Rows

    private func write(_ object: ImportedObject) throws {
        var key: Int64?
        var isExisting = false
        for id in object.ids {
            if let kept = keys.keptKey(of: id) {
                key = kept
                keys.keep(kept, of: id)
                continue
            }
            let known = try records.find(id)
            switch known?.state {
            case .inserted: throw duplicate(object)
            case .existing: isExisting = true
            case .identified, .referenced, nil: break
            }
            key = known?.key ?? key
        }
        if object.ids.isEmpty, let existing = try updatedKey(of: object) { (key, isExisting) = (existing, true) }
        let finalKey = try key ?? keys.newKey(of: object.entity)
        for id in object.ids where keys.keptKey(of: id) == nil { try records.set(id, key: finalKey, .inserted) }

        var row = PendingRows.Row(
            entity: object.entity,
            key: finalKey,
            values: object.values,
            existing: isExisting ? try transaction.row(of: object.entity, key: finalKey) : nil
        )
        if let existing = row.existing, existing.entityIndex != object.entity.index {
            throw TransferError.violations(["\(object.entity.name): an object of the store is of another entity"])
        }
        for (relationship, id) in object.destinations {
            row.values[relationship.slot] =
                try id.map { .integer(try keys.key(of: $0, relationship.destination)) } ?? .null
            // Only an object of the store can contradict the destination.
            guard options.existingObjects == .update, relationship.inverse != nil else { continue }
            try records.noteDestination(of: relationship.index, owner: finalKey, isSet: id != nil)
        }
        try check(&row, object.place)
        for (relationship, ids) in object.members {
            if isExisting { try records.replace(relationship.index, of: finalKey) }
            for (position, id) in ids.enumerated() {
                let member = IdentifierTable.Member(
                    relationship: relationship.index,
                    owner: finalKey,
                    member: try keys.key(of: id, relationship.destination)
                )
                try records.add(member, at: Int64(position))
            }
        }
        pending.append(row)
        findings.countObject(of: object.entity, isExisting: isExisting)
        if pending.isFull { try pending.write(to: transaction) }
    }

    /// Checks the attributes of a row, and sets default values of new objects.
    private func check(_ row: inout PendingRows.Row, _ place: SourcePlace?) throws {
        for attribute in row.entity.attributes {
            let isNew = row.existing == nil
            if isNew, row.values[attribute.slot] ?? .null == .null, !attribute.isOptional {
                row.values[attribute.slot] =
                    attribute.description.defaultValue
                    ?? defaultValues?(attribute.declaringEntityName, attribute.name)
            }
            guard isNew || row.values[attribute.slot] != nil else { continue }
            let value = row.values[attribute.slot] ?? .null
            guard let reason = Property.attribute(attribute).problem(of: value) else { continue }
            switch options.unfitContent {
            case .refuse:
                if let place { throw place.error("\(row.entity.name).\(attribute.name): \(reason.description)") }
                countUnfit(attribute.name, of: row.entity.name, reason.description)
            case .omit:
                countUnfit(attribute.name, of: row.entity.name, reason.description)
                guard attribute.isOptional else {
                    throw TransferError.violations(["\(row.entity.name).\(attribute.name): \(reason.description)"])
                }
            }
            row.values[attribute.slot] = .null
        }
    }

    // MARK: The end

    private func finish() throws {
        try keys.advanceSequences()
        try writeMembers()
        if options.unfitContent == .omit { try omitDanglingReferences() }
        try alignOneToOnes()
        try transaction.completeOneToOnes()
        try transaction.alignSharedInverses()
        let unfitValues = findings.unfitValues
        if options.unfitContent == .refuse, !unfitValues.isEmpty { throw TransferError.unfitValues(unfitValues) }
        let progress = progress
        do {
            let problems = try transaction.problems(written: pending.written(model)) { progress?.isCancelled ?? false }
            guard problems.isEmpty else { throw TransferError.violations(problems) }
        } catch DatabaseError.interrupted {
            throw CancellationError()
        }
        if progress?.isCancelled ?? false { throw CancellationError() }
    }

    /// Makes objects of the store that the source does not have consistent with the one-to-one relationships of the
    /// source.
    private func alignOneToOnes() throws {
        try records.forEachDestination { relationship, owner in
            try transaction.alignOneToOne(model.relationships[relationship], of: owner) { relationship, key in
                try records.hasDestination(of: relationship.index, owner: key)
            }
        }
    }

    /// Clears the references to objects that the source does not have.
    private func omitDanglingReferences() throws {
        for relationship in model.relationships where !relationship.isToMany {
            let count = try transaction.clearDanglingReferences(of: relationship)
            if count > 0 {
                countUnfit(relationship.name, of: relationship.source.name, Self.danglingReason, count: count)
            }
        }
    }

    /// Whether a member is taken from its owner in the store: unless the source itself gives the member an owner.
    private func replacesOwner(of member: Int64, _ relationship: Relationship) throws -> Bool {
        guard options.existingObjects == .update, let inverse = relationship.inverse, !inverse.isToMany,
            try !records.hasDestination(of: inverse.index, owner: member)
        else { return false }
        // Another owner in the source contradicts the new owner.
        try records.noteDestination(of: inverse.index, owner: member, isSet: true)
        return true
    }

    private static let danglingReason = "the object that a reference leads to is missing"

    /// Removes the members of objects of the store that the lists of the source lack.
    private func removeUnlistedMembers() throws {
        guard records.replacesMembers else { return }
        try records.indexMembers()
        try records.forEachReplaced { index, owner in
            if progress?.isCancelled ?? false { throw CancellationError() }
            let relationship = model.relationships[index]
            try transaction.removeMembers(of: relationship, of: owner) { member in
                try records.isListed(IdentifierTable.Member(relationship: index, owner: owner, member: member))
            } isKept: { member in
                try keeps(member, in: relationship, of: owner)
            }
        }
    }

    /// Whether an object stays a member of an owner whose list lacks it, because the source itself refers from the
    /// object to the owner. The list of a many-to-many relationship complements the list of the inverse; a to-one
    /// reference contradicts the list, and is counted.
    private func keeps(_ member: Int64, in relationship: Relationship, of owner: Int64) throws -> Bool {
        guard let inverse = relationship.inverse else { return false }
        if inverse.isToMany {
            return try records.isListed(
                IdentifierTable.Member(relationship: inverse.index, owner: member, member: owner)
            )
        }
        guard try records.hasDestination(of: inverse.index, owner: member) else { return false }
        countUnfit(
            relationship.name,
            of: relationship.source.name,
            "the list lacks an object whose inverse leads to the owner"
        )
        return true
    }

    private func writeMembers() throws {
        try removeUnlistedMembers()
        var owner: (relationship: Int, key: Int64)?
        var position: Int64 = 0
        try records.forEachMember { record in
            if owner?.relationship != record.relationship || owner?.key != record.owner {
                owner = (record.relationship, record.owner)
                position = 0
                if progress?.isCancelled ?? false { throw CancellationError() }
            }
            let relationship = model.relationships[record.relationship]
            if options.unfitContent == .omit {
                let areThere =
                    try transaction.hasObject(of: relationship.destination, key: record.member)
                    && transaction.hasObject(of: relationship.source, key: record.owner)
                guard areThere else {
                    return countUnfit(relationship.name, of: relationship.source.name, Self.danglingReason)
                }
            }
            let order = relationship.isOrdered ? position : nil
            let isAdded = try transaction.add(
                record.member,
                to: relationship,
                of: record.owner,
                at: order,
                replacesOwner: replacesOwner(of: record.member, relationship)
            )
            if isAdded {
                position += 1
            } else {
                countUnfit(
                    relationship.name,
                    of: relationship.source.name,
                    "a member is missing, or its inverse leads to another object"
                )
            }
        }
    }
}
