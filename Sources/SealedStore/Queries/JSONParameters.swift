import Foundation
import ObjectGraph

/// The path of keys to a part of a composite value, as the parameter of a statement.
final class ComponentKeys {
    let keys: [ComponentKey]

    /// Parses a text of ``text(_:)``.
    init(text: String) {
        let items = (try? JSONDecoder().decode([Item].self, from: Data(text.utf8))) ?? []
        keys = items.map(\.key)
    }

    /// The JSON array of names and indexes.
    static func text(_ keys: [ComponentKey]) -> String {
        let data = try? JSONEncoder().encode(keys.map(Item.init))
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    private struct Item: Codable {
        let key: ComponentKey

        init(_ key: ComponentKey) {
            self.key = key
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let index = try? container.decode(Int.self) {
                key = .index(index)
            } else {
                key = .name(try container.decode(String.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch key {
            case .name(let name): try container.encode(name)
            case .index(let index): try container.encode(index)
            }
        }
    }
}

/// The elements of a composite value as a JSON array from which `json_each` returns them without loss: integers as they
/// are, reals as their bits, other values as the hexadecimal digits of their bytes.
enum ElementList {
    static func text(_ elements: [Value]) -> String {
        var text = "["
        for element in elements {
            if text.utf8.count > 1 { text += "," }
            switch element {
            case .null: text += "null"
            case .integer(let integer): text += String(integer)
            case .real(let real): text += String(Int64(bitPattern: real.bitPattern))
            case .text(let string): text += hexadecimal(string.utf8)
            case .blob(let data): text += hexadecimal(data)
            case .uuid(let uuid): text += withUnsafeBytes(of: uuid.uuid) { hexadecimal($0) }
            }
        }
        return text + "]"
    }

    /// The SQL of an element of a type, given the SQL of its value in `json_each`.
    static func element(_ value: String, of storage: AttributeType.Storage) -> String {
        switch storage {
        case .integer: value
        case .real: "\(QueryFunctions.realName)(\(value))"
        case .text: "CAST(unhex(\(value)) AS TEXT)"
        case .blob: "unhex(\(value))"
        }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        var text = "\""
        for byte in bytes {
            text.unicodeScalars.append(Unicode.Scalar(digits[Int(byte >> 4)]))
            text.unicodeScalars.append(Unicode.Scalar(digits[Int(byte & 15)]))
        }
        return text + "\""
    }
}
