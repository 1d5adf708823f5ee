import Foundation
import ObjectGraph

/// Decodes the changes of a row of ``HistoryTable``. The names in it are the names of the model at the time of the
/// change.
struct HistoryDecoder {
    private var bytes: HistoryReader
    private let model: ManagedObjectModel
    /// The renamings since the transaction.
    private let renamings: [HistorySettings.Renaming]
    private let includesValues: Bool
    private var names: [String] = []
    private var nextChange: Int64
    private let lastChange: Int64

    /// - Parameters:
    ///   - row: The key of the row.
    ///   - renamings: All recorded renamings.
    ///   - includesValues: Whether recorded values are decoded.
    init(
        _ bytes: UnsafeRawBufferPointer,
        row: Int64,
        model: ManagedObjectModel,
        renamings: [HistorySettings.Renaming],
        includesValues: Bool = true
    ) {
        self.bytes = HistoryReader(bytes: bytes)
        self.model = model
        self.renamings = renamings.filter { $0.through >= row }
        self.includesValues = includesValues
        nextChange = Self.firstChange(ofRow: row)
        lastChange = nextChange &+ 1 << 20
    }

    /// The number of the first change of a row. A row has at most 2²⁰ changes.
    static func firstChange(ofRow row: Int64) -> Int64 { row << 20 }

    /// The groups of objects, without objects of removed entities.
    mutating func groups() throws -> [PersistentHistoryTransaction.Group] {
        var groups: [PersistentHistoryTransaction.Group] = []
        while !bytes.isAtEnd {
            if let group = try nextGroup() { groups.append(group) }
        }
        return groups
    }

    private mutating func nextGroup() throws -> PersistentHistoryTransaction.Group? {
        let code = try bytes.byte()
        let hasValues = code & HistoryEncoder.valuesFlag != 0
        guard let kind = PersistentHistoryChange.Kind(code: code & ~HistoryEncoder.valuesFlag) else {
            throw HistoryReader.damage
        }
        let recordedName = try name()
        let entityName = renamings.reduce(recordedName) { $1.entities[$0] ?? $0 }
        let entity = model.entitiesByName[entityName]
        var properties: [Property?] = []
        for _ in 0..<(try bytes.count(least: 1)) {
            let name = currentName(of: try name(), in: recordedName)
            properties.append(entity?.propertiesByName[name])
        }
        let keys = try runs()
        let count = keys.reduce(0) { $0 + $1.count }
        let firstChange = nextChange
        nextChange = nextChange &+ Int64(count)
        guard nextChange <= lastChange else { throw HistoryReader.damage }
        var values: [PersistentHistoryChange.Values] = []
        if hasValues, includesValues {
            for _ in 0..<count { values.append(try objectValues(kind, properties)) }
        } else if hasValues {
            for _ in 0..<count { try skipValues(kind, properties.count) }
        }
        guard let entity else { return nil }
        return .init(
            kind: kind,
            entity: entity,
            keys: keys,
            updatedProperties: kind == .update ? properties.compactMap(\.self) : [],
            values: values,
            firstChange: firstChange
        )
    }

    private func currentName(of property: String, in entity: String) -> String {
        var (entity, property) = (entity, property)
        for renaming in renamings {
            property = renaming.properties[entity]?[property] ?? property
            entity = renaming.entities[entity] ?? entity
        }
        return property
    }

    private mutating func name() throws -> String {
        let position = try bytes.number()
        if position == 0 {
            names.append(try bytes.text())
            return names[names.count - 1]
        }
        guard position <= names.count else { throw HistoryReader.damage }
        return names[Int(position) - 1]
    }

    private mutating func runs() throws -> [ClosedRange<Int64>] {
        var runs: [ClosedRange<Int64>] = []
        var last: Int64 = 0
        var total: UInt64 = 0
        for _ in 0..<(try bytes.count(least: 2)) {
            let first = last &+ (try bytes.signed())
            let count = try bytes.number()
            guard count > 0, count <= 1 << 20 - total else { throw HistoryReader.damage }
            total += count
            guard first > 0, first <= Int64.max - Int64(count) else {
                throw HistoryReader.damage
            }
            last = first + Int64(count) - 1
            runs.append(first...last)
        }
        return runs
    }

    private mutating func skipValues(_ kind: PersistentHistoryChange.Kind, _ count: Int) throws {
        for _ in 0..<count where try bytes.skipValue() && kind == .update {
            guard try bytes.skipValue() else { throw HistoryReader.damage }
        }
    }

    private mutating func objectValues(
        _ kind: PersistentHistoryChange.Kind,
        _ properties: [Property?]
    ) throws -> PersistentHistoryChange.Values {
        var values = PersistentHistoryChange.Values()
        for property in properties {
            switch try bytes.value() {
            case .members(let change):
                if let property { values.members[property.name] = change }
            case .value(let first):
                var (old, new): (Value?, Value?) = (nil, nil)
                switch kind {
                case .insert: new = first.isNull ? nil : first
                case .delete: old = first.isNull ? nil : first
                case .update:
                    guard case .value(let second) = try bytes.value() else { throw HistoryReader.damage }
                    (old, new) = (first, second)
                }
                // The rows of its members contain the change of the to-many relationship.
                guard let property, !property.isToMany else { continue }
                if let old { values.old[property.name] = old }
                if let new { values.new[property.name] = new }
            }
        }
        return values
    }
}

/// Reads the bytes of encoded changes.
struct HistoryReader {
    let bytes: UnsafeRawBufferPointer
    private var position = 0

    /// The error for bytes that the store never writes.
    static let damage = SealedStoreError.damagedRow(entity: HistoryTable.name, property: "changes")

    init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// A recorded value of a slot.
    enum Recorded {
        case value(Value)
        case members(PersistentHistoryChange.Members)
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func byte() throws -> UInt8 {
        guard position < bytes.count else { throw Self.damage }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func number() throws -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let byte = try byte()
            guard shift < 63 || byte <= 1 else { throw Self.damage }
            number |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
        }
        throw Self.damage
    }

    mutating func signed() throws -> Int64 {
        let number = try number()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    /// The count of items, each of at least a number of bytes.
    mutating func count(least size: Int) throws -> Int {
        let count = try number()
        guard count <= UInt64(bytes.count - position) / UInt64(size) else { throw Self.damage }
        return Int(count)
    }

    private mutating func counted() throws -> UnsafeRawBufferPointer {
        let count = try count(least: 1)
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }

    mutating func text() throws -> String { String(decoding: try counted(), as: UTF8.self) }

    mutating func value() throws -> Recorded {
        switch try byte() {
        case 0: return .value(.null)
        case 1: return .value(.integer(try signed()))
        case 2:
            guard bytes.count - position >= 8 else { throw Self.damage }
            defer { position += 8 }
            let bits = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            return .value(.real(Double(bitPattern: UInt64(littleEndian: bits))))
        case 3: return .value(.text(try text()))
        case 4: return .value(.blob(Data(try counted())))
        case 5:
            let added = try keys()
            let removed = try keys()
            let hasOrder = try byte() != 0
            return .members(.init(added: added, removed: removed, order: hasOrder ? try keys() : nil))
        default: throw Self.damage
        }
    }

    /// Reads over a value without making it.
    ///
    /// - Returns: Whether it is a value of a property, which may have an old and a new value, and not the change of a
    ///   to-many relationship.
    mutating func skipValue() throws -> Bool {
        switch try byte() {
        case 0: break
        case 1: _ = try number()
        case 2:
            guard bytes.count - position >= 8 else { throw Self.damage }
            position += 8
        case 3, 4: _ = try counted()
        case 5:
            _ = try keys()
            _ = try keys()
            if try byte() != 0 { _ = try keys() }
            return false
        default: throw Self.damage
        }
        return true
    }

    private mutating func keys() throws -> [Int64] {
        var keys: [Int64] = []
        var last: Int64 = 0
        for _ in 0..<(try count(least: 1)) {
            last = last &+ (try signed())
            guard last.isPrimaryKey else { throw Self.damage }
            keys.append(last)
        }
        return keys
    }
}
