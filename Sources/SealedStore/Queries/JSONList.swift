import Foundation
import ObjectGraph

/// Many constants of one type as one parameter: a JSON array that SQLite's `json_each` takes apart.
struct JSONList {
    let text: String
    /// Whether the elements are blobs, written as hexadecimal digits.
    let isHexadecimal: Bool

    /// Nil for reals, which text does not keep exactly, and for values of several types.
    init?(_ values: [Value]) {
        var elements: [String] = []
        var blobCount = 0
        for value in values {
            switch value {
            case .integer(let integer): elements.append(String(integer))
            case .text(let text):
                guard let data = try? JSONEncoder().encode(text) else { return nil }
                elements.append(String(decoding: data, as: UTF8.self))
            case .blob(let data):
                elements.append(Self.hexadecimal(data))
                blobCount += 1
            case .uuid(let uuid):
                elements.append(withUnsafeBytes(of: uuid.uuid) { Self.hexadecimal(Data($0)) })
                blobCount += 1
            case .null, .real: return nil
            }
        }
        guard blobCount == 0 || blobCount == values.count else { return nil }
        text = "[\(elements.joined(separator: ","))]"
        isHexadecimal = blobCount > 0
    }

    private static func hexadecimal(_ data: Data) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text = "\""
        for byte in data {
            text.unicodeScalars.append(Unicode.Scalar(digits[Int(byte >> 4)]))
            text.unicodeScalars.append(Unicode.Scalar(digits[Int(byte & 15)]))
        }
        return text + "\""
    }
}
