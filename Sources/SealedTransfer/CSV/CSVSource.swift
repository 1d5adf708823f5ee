import Foundation
import ObjectGraph

/// The objects of CSV files, one file for each entity.
struct CSVSource: ImportSource {
    let files: [(entity: Entity, url: URL)]
    let model: ManagedObjectModel
    let options: ImportOptions
    let unitCount: Int64

    var needsIdentification: Bool { false }

    init(_ files: [(entity: Entity, url: URL)], _ model: ManagedObjectModel, _ options: ImportOptions) throws {
        self.files = files
        self.model = model
        self.options = options
        unitCount = try files.reduce(0) { try $0 + InputFile($1.url).byteCount }
    }

    /// Whether the files of the root entity and its descendants have the column `_id`, with a number in the first
    /// record.
    func hasIntegerIDs(of root: Entity) throws -> Bool {
        let own = files.filter { $0.entity.rootIndex == root.index }
        return try own.allSatisfy { _, url in
            var records = CSVReader(try InputFile(url), limit: options.limits.lineByteCount)
            guard let header = try records.next(fieldLimit: options.limits.propertyCount),
                let column = header.firstIndex(where: { $0.text == MemberName.id })
            else { return false }
            guard let first = try records.next(fieldLimit: header.count) else { return true }
            return column < first.count && Int64(first[column].text) != nil
        }
    }

    func read(into session: ImportSession) throws {
        var bytesBefore: Int64 = 0
        for (entity, url) in files {
            let file = try InputFile(url)
            try read(file, entity, session) { try session.advance(to: bytesBefore + file.bytesRead) }
            bytesBefore += file.byteCount
        }
    }

    private func read(
        _ file: InputFile,
        _ entity: Entity,
        _ session: ImportSession,
        _ advance: () throws -> Void
    ) throws {
        var records = CSVReader(file, limit: options.limits.lineByteCount)
        guard let header = try records.next(fieldLimit: options.limits.propertyCount) else {
            throw SourcePlace(file: file.name, line: 1).error("the file has no header with the names of the columns")
        }
        let columns = try columns(header, entity, session)
        for property in entity.properties where !columns.contains(.property(property)) {
            if case .relationship(let relationship) = property, relationship.isToMany { continue }
            session.note(missing: property.name, of: entity.name)
        }
        var count = 0
        while let record = try records.next(fieldLimit: columns.count) {
            guard record.count == columns.count, let place = record.first?.place else {
                throw (record.last ?? header[0]).place.error(
                    "the record has \(record.count) fields, and the header has \(columns.count)"
                )
            }
            var object = ImportedObject(entity)
            object.place = place
            for (column, field) in zip(columns, record) { try read(field, column, into: &object, session) }
            try session.add(object)
            count += 1
            if count % 256 == 0 { try advance() }
        }
        try advance()
    }

    private enum Column: Hashable {
        case id
        case property(Property)
        /// A column that is not imported.
        case ignored
    }

    private func columns(
        _ header: [CSVReader.Field],
        _ entity: Entity,
        _ session: ImportSession
    ) throws -> [Column] {
        var seen: Set<String> = []
        return try header.map { field in
            // An attribute `_entity` may have its name as it is: CSV has no such column itself.
            let property = field.text == MemberName.id ? nil : MemberName.property(field.text, of: entity)
            guard seen.insert(property.map(MemberName.text) ?? field.text).inserted else {
                throw field.place.error("two columns have the same name")
            }
            if field.text == MemberName.id { return .id }
            if let property { return .property(property) }
            guard options.unfitContent == .omit else {
                throw field.place.error("'\(entity.name)' has no property '\(field.text)'")
            }
            session.note(notImported: "\(entity.name).\(field.text): the entity has no such property")
            return .ignored
        }
    }

    private func read(
        _ field: CSVReader.Field,
        _ column: Column,
        into object: inout ImportedObject,
        _ session: ImportSession
    ) throws {
        let entity = object.entity
        switch column {
        case .ignored: return
        case .id:
            if !field.isNull { object.ids = [id(field.text, entity)] }
        case .property(.attribute(let attribute)):
            guard !field.isNull else {
                object.values[attribute.slot] = .some(.null)
                return
            }
            do throws(ValueReading.Unfit) {
                object.values[attribute.slot] = try ValueReading.value(of: field.text, as: attribute.type)
            } catch {
                guard options.unfitContent == .omit else {
                    throw field.place.error("\(entity.name).\(attribute.name): \(error.reason)")
                }
                session.countUnfit(attribute.name, of: entity.name, error.reason)
                object.values[attribute.slot] = .some(.null)
            }
        case .property(.relationship(let relationship)) where relationship.isToMany:
            object.members.append((relationship, try members(field, relationship)))
        case .property(.relationship(let relationship)):
            let id = field.isNull ? nil : id(field.text, relationship.destination)
            object.destinations.append((relationship, id))
        }
    }

    private func id(_ text: String, _ entity: Entity) -> ImportedID {
        ImportedID(root: model.root(of: entity), text: text)
    }

    /// The members of a to-many relationship: a JSON array of identifiers.
    private func members(_ field: CSVReader.Field, _ relationship: Relationship) throws -> [ImportedID] {
        guard !field.isNull else { return [] }
        guard let slice = JSONSlice(validating: field.text), slice.kind == .array else {
            throw field.place.error("a to-many relationship is an array of identifiers, such as [1,2]")
        }
        return try slice.elements.map { element in
            let text = element.kind == .number ? element.literal : element.string
            guard let text else { throw field.place.error("an identifier is a number or a string") }
            return id(text, relationship.destination)
        }
    }
}
