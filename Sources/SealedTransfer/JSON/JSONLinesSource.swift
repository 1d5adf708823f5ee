import Foundation
import ObjectGraph

/// The objects of a file of JSON lines: each line is one object.
struct JSONLinesSource: ImportSource {
    let url: URL
    /// The entity of lines without a member `_entity`; nil if each line needs one.
    let defaultEntity: Entity?
    let model: ManagedObjectModel
    let options: ImportOptions
    let unitCount: Int64
    /// Whether the first object has a number as its identifier.
    private let beginsWithIntegerID: Bool

    var needsIdentification: Bool { false }

    init(_ url: URL, _ model: ManagedObjectModel, defaultEntity: Entity?, _ options: ImportOptions) throws {
        self.url = url
        self.model = model
        self.defaultEntity = defaultEntity
        self.options = options
        let file = try InputFile(url)
        unitCount = file.byteCount
        var lines = LineReader(file, limit: options.limits.lineByteCount)
        beginsWithIntegerID = try Self.hasIntegerID(lines.next())
    }

    private static func hasIntegerID(_ line: [UInt8]?) -> Bool {
        guard let line, let slice = try? JSONSlice(line) else { return false }
        let id = slice.members.first { $0.name.string == MemberName.id }?.value
        return (id?.literal).flatMap { Int64($0) } != nil
    }

    func hasIntegerIDs(of root: Entity) -> Bool { beginsWithIntegerID }

    func read(into session: ImportSession) throws {
        var lines = LineReader(try InputFile(url), limit: options.limits.lineByteCount)
        while let line = try lines.next() {
            if let object = try object(line, lines.lineNumber, lines.file.name, session) { try session.add(object) }
            if lines.lineNumber % 256 == 0 { try session.advance(to: lines.file.bytesRead) }
        }
        try session.advance(to: unitCount)
    }

    /// The object of a line; nil for an empty line.
    private func object(
        _ bytes: [UInt8],
        _ number: Int,
        _ file: String,
        _ session: ImportSession
    ) throws -> ImportedObject? {
        if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { return nil }
        let line = SourcePlace(file: file, line: number)
        let slice: JSONSlice
        do {
            slice = try JSONSlice(bytes)
        } catch {
            throw line.at(error.position).error(error.reason)
        }
        guard slice.isObject else { throw line.at(slice.range.lowerBound).error("a line has an object") }
        var members: [(name: String, value: JSONSlice)] = []
        var names: Set<String> = []
        for (name, value) in slice.members {
            guard let text = name.string, names.insert(text).inserted else {
                throw line.at(name.range.lowerBound).error("a member's name is not a text, or occurs twice")
            }
            members.append((text, value))
        }
        var reader = JSONObjectReader(try entity(of: members, line), line, session, options)
        for (name, value) in members { try reader.read(name, value) }
        return reader.object
    }

    private func entity(of members: [(name: String, value: JSONSlice)], _ line: SourcePlace) throws -> Entity {
        guard let value = members.first(where: { $0.name == MemberName.entity })?.value else {
            guard let defaultEntity else { throw line.error("the object has no member '\(MemberName.entity)'") }
            return defaultEntity
        }
        guard let name = value.string, let entity = model.entitiesByName[name] else {
            throw line.at(value.range.lowerBound).error("the model has no such entity")
        }
        return entity
    }
}

extension SourcePlace {
    /// The place of a byte in the same line.
    func at(_ offset: Int) -> SourcePlace { SourcePlace(file: file, line: line, column: offset + 1) }
}

/// Reads the members of one line into an object.
private struct JSONObjectReader {
    private(set) var object: ImportedObject
    private let line: SourcePlace
    private let session: ImportSession
    private let options: ImportOptions

    init(_ entity: Entity, _ line: SourcePlace, _ session: ImportSession, _ options: ImportOptions) {
        object = ImportedObject(entity)
        object.place = line
        self.line = line
        self.session = session
        self.options = options
    }

    mutating func read(_ name: String, _ value: JSONSlice) throws {
        switch name {
        case MemberName.entity: return
        case MemberName.id:
            if let id = try id(value, object.entity) { object.ids = [id] }
            return
        default: break
        }
        guard let property = MemberName.property(name, of: object.entity) else {
            guard options.unfitContent == .omit else {
                throw line.at(value.range.lowerBound).error("'\(object.entity.name)' has no property '\(name)'")
            }
            return session.note(notImported: "\(object.entity.name).\(name): the entity has no such property")
        }
        switch property {
        case .attribute(let attribute): object.values[attribute.slot] = try self.value(value, of: attribute)
        case .relationship(let relationship) where relationship.isToMany:
            guard value.kind == .array || value.isNull else {
                throw line.at(value.range.lowerBound).error("a to-many relationship is an array of identifiers")
            }
            object.members.append(
                (relationship, try value.elements.compactMap { try id($0, relationship.destination) })
            )
        case .relationship(let relationship):
            object.destinations.append((relationship, try id(value, relationship.destination)))
        }
    }

    private func id(_ value: JSONSlice, _ entity: Entity) throws -> ImportedID? {
        let root = session.model.root(of: entity)
        switch value.kind {
        case .null: return nil
        case .number: return ImportedID(root: root, text: value.literal)
        case .string:
            if let text = value.string { return ImportedID(root: root, text: text) }
        case .bool, .array, .object: break
        }
        throw line.at(value.range.lowerBound).error("an identifier is a number or a string")
    }

    /// The value of an attribute. A value that does not fit is refused at its place, or counted.
    private func value(_ slice: JSONSlice, of attribute: Attribute) throws -> Value {
        guard !slice.isNull else { return .null }
        do throws(ValueReading.Unfit) {
            return try value(slice, as: attribute.type)
        } catch {
            guard options.unfitContent == .omit else {
                throw line.at(slice.range.lowerBound)
                    .error("\(object.entity.name).\(attribute.name): \(error.reason)")
            }
            session.countUnfit(attribute.name, of: object.entity.name, error.reason)
            return .null
        }
    }

    private func value(_ slice: JSONSlice, as type: AttributeType) throws(ValueReading.Unfit) -> Value {
        let isNumeric: Bool
        switch type.form {
        case .json: return .text(Self.composite(slice))
        case .boolean:
            guard slice.kind == .bool else { throw ValueReading.Unfit(reason: "the value is not true or false") }
            return try ValueReading.value(of: slice.literal, as: type)
        case .integer, .unsigned: isNumeric = true
        case .float, .double, .decimal, .date: isNumeric = slice.kind == .number
        case .text, .uuid, .url, .bytes: isNumeric = false
        }
        guard slice.kind == (isNumeric ? .number : .string), let text = isNumeric ? slice.literal : slice.string else {
            throw ValueReading.Unfit(reason: "the value is not of type \(type.rawValue)")
        }
        return try ValueReading.value(of: text, as: type)
    }

    /// The text of a composite value, see ``ValueText``.
    private static func composite(_ slice: JSONSlice) -> String {
        let members = slice.members
        guard members.count == 1, members[0].name.string == ValueText.composedTextMember,
            let text = members[0].value.string
        else { return slice.literal }
        return text
    }
}
