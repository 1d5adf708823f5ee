/// The type of an attribute, which determines its values and their stored form.
public enum AttributeType: String, Codable, CaseIterable, Sendable {
    case int8, int16, int32, int64
    case uint8, uint16, uint32, uint64
    case bool
    case float, double
    case decimal
    case string
    case date
    case uuid
    case url
    case data
    /// Any other `Codable` value, stored as JSON text.
    case composite

    /// The storage class of the values.
    public var storage: Storage {
        switch self {
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .bool: .integer
        case .float, .double, .date: .real
        case .string, .url, .composite: .text
        case .decimal, .uuid, .data: .blob
        }
    }

    /// A storage class.
    public enum Storage: String, Codable, CaseIterable, Sendable {
        case integer, real, text, blob
    }
}

extension AttributeType {
    /// The range of the integers of the type; nil for 64-bit integers, and for other types.
    public var integerRange: ClosedRange<Int64>? {
        switch self {
        case .int8: Int64(Int8.min)...Int64(Int8.max)
        case .int16: Int64(Int16.min)...Int64(Int16.max)
        case .int32: Int64(Int32.min)...Int64(Int32.max)
        case .uint8: 0...Int64(UInt8.max)
        case .uint16: 0...Int64(UInt16.max)
        case .uint32: 0...Int64(UInt32.max)
        case .bool: 0...1
        case .int64, .uint64, .float, .double, .decimal, .string, .date, .uuid, .url, .data, .composite: nil
        }
    }
}
