import EncryptedSQLite
import Foundation
import ObjectGraph

/// Reads the values of Core Data's columns.
///
/// | attribute | column |
/// |---|---|
/// | integers, Boolean | integer |
/// | float, double | number |
/// | date | seconds since 2001 |
/// | decimal | number or text |
/// | string, URI | text |
/// | UUID | 16 bytes |
/// | binary data | bytes; with external storage, 1 and the bytes, or 2 and the name of a file, see ``ExternalStorage`` |
/// | transformable, composite | bytes, see below |
///
/// A composite value is read from JSON and from property lists. Archives of `NSKeyedArchiver` are not read: they name
/// classes that only the program has.
struct CoreDataValues {
    /// The folder of the values that are kept outside the database.
    let externalFolder: URL

    /// Core Data's folder beside the store: `.Model_SUPPORT/_EXTERNAL_DATA` for `Model.sqlite`.
    init(beside store: URL) {
        let name = store.deletingPathExtension().lastPathComponent
        externalFolder = store.deletingLastPathComponent().appending(path: ".\(name)_SUPPORT/_EXTERNAL_DATA")
    }

    /// The stored form of the value of a column.
    ///
    /// - Throws: `ValueReading.Unfit`.
    func value(
        _ row: borrowing Statement,
        _ index: Int32,
        of attribute: Attribute,
        _ storage: ExternalStorage
    ) throws(ValueReading.Unfit) -> Value {
        switch row.columnType(index) {
        case .null: return .null
        case .integer: return try number(.integer(row.integer(at: index)), attribute.type)
        case .real: return try number(.real(row.real(at: index)), attribute.type)
        case .text:
            guard let text = String(validating: row.text(at: index), as: UTF8.self) else {
                throw ValueReading.Unfit(reason: "the text is not UTF-8")
            }
            switch attribute.type.form {
            case .json:
                guard JSONSlice(validating: text) != nil else {
                    throw ValueReading.Unfit(reason: "the text is not JSON")
                }
                return .text(text)
            case .bytes: throw Self.unfit(attribute.type)
            case .integer, .unsigned, .boolean, .float, .double, .decimal, .text, .url, .date, .uuid:
                return try ValueReading.value(of: text, as: attribute.type)
            }
        case .blob: return try bytes(Data(row.blob(at: index)), attribute, storage)
        }
    }

    private static func unfit(_ type: AttributeType) -> ValueReading.Unfit {
        ValueReading.Unfit(reason: "the value is not of type \(type.rawValue)")
    }

    private func number(_ value: Value, _ type: AttributeType) throws(ValueReading.Unfit) -> Value {
        let real: Double
        let integer: Int64?
        switch value {
        case .integer(let number): (real, integer) = (Double(number), number)
        case .real(let number): (real, integer) = (number, Int64(exactly: number))
        default: throw Self.unfit(type)
        }
        switch type.form {
        case .double, .date: return .real(real)
        case .float:
            // A column of floats holds the double that is nearest to the float.
            guard let float = ValueReading.float(Float(real), nearestTo: real) else { throw Self.unfit(type) }
            return float
        case .decimal:
            let text = if case .integer(let number) = value { String(number) } else { "\(real)" }
            guard let decimal = ValueReading.decimal(text) else { throw Self.unfit(type) }
            return decimal
        case .integer, .unsigned, .boolean:
            guard let integer, type.integerRange?.contains(integer) ?? true else { throw Self.unfit(type) }
            return .integer(integer)
        case .text, .uuid, .url, .bytes, .json: throw Self.unfit(type)
        }
    }

    private func bytes(
        _ data: Data,
        _ attribute: Attribute,
        _ storage: ExternalStorage
    ) throws(ValueReading.Unfit) -> Value {
        switch attribute.type.form {
        case .bytes:
            switch storage {
            case .unused: return .blob(data)
            case .used: return .blob(try external(data))
            case .contradictory:
                guard ![Self.inlineMark, Self.externalMark].contains(data.first) else {
                    throw ValueReading.Unfit(reason: "some values of the column have the mark of external storage")
                }
                return .blob(data)
            }
        case .uuid:
            guard let uuid = UUID(storedValue: .blob(data)) else { throw Self.unfit(attribute.type) }
            return .uuid(uuid)
        case .json: return .text(try composite(data))
        case .integer, .unsigned, .boolean, .float, .double, .decimal, .text, .url, .date:
            throw Self.unfit(attribute.type)
        }
    }

    // MARK: Values outside the database

    private static let inlineMark: UInt8 = 1
    private static let externalMark: UInt8 = 2
    /// SQLite's limit of a value.
    private static let byteLimit = 1_000_000_000

    private func external(_ data: Data) throws(ValueReading.Unfit) -> Data {
        switch data.first {
        case Self.inlineMark: return Data(data.dropFirst())
        case Self.externalMark:
            let name = String(decoding: data.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
            // Core Data's names are UUIDs; any other name could lead out of the folder.
            guard UUID(uuidString: name) != nil else {
                throw ValueReading.Unfit(reason: "the name of the external file is not valid")
            }
            let path = externalFolder.appending(path: name).path(percentEncoded: false)
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard attributes?[.type] as? FileAttributeType == .typeRegular,
                let size = (attributes?[.size] as? NSNumber)?.intValue, size <= Self.byteLimit,
                let content = FileManager.default.contents(atPath: path)
            else { throw ValueReading.Unfit(reason: "the external file is missing or cannot be read") }
            return content
        default: return data
        }
    }

    // MARK: Composite values

    private func composite(_ data: Data) throws(ValueReading.Unfit) -> String {
        if !data.starts(with: "bplist".utf8) {
            if let text = String(validating: data, as: UTF8.self), JSONSlice(validating: text) != nil { return text }
            throw ValueReading.Unfit(reason: "the bytes are neither JSON nor a property list")
        }
        try PropertyListSize.check(data)
        // Bytes that are no binary property list are read as a text without quotes.
        var format = PropertyListSerialization.PropertyListFormat.binary
        guard let list = try? PropertyListSerialization.propertyList(from: data, format: &format), format == .binary
        else {
            throw ValueReading.Unfit(reason: "the property list is damaged")
        }
        if (list as? [String: Any])?["$archiver"] != nil {
            throw ValueReading.Unfit(reason: "the value is an archive of NSKeyedArchiver, which needs a conversion")
        }
        guard JSONSerialization.isValidJSONObject([list]),
            let json = try? JSONSerialization.data(withJSONObject: list, options: [.sortedKeys, .fragmentsAllowed])
        else { throw ValueReading.Unfit(reason: "the property list has no form in JSON") }
        return String(decoding: json, as: UTF8.self)
    }
}
