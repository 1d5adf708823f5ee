/// The type of an attribute: what values it takes and how a store keeps them.
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

    /// How values of the type are stored.
    public var storage: Storage {
        switch self {
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .bool: .integer
        case .float, .double, .date: .real
        case .string, .url, .composite: .text
        case .decimal, .uuid, .data: .blob
        }
    }

    /// A storage class.
    public enum Storage: String, Codable, Sendable {
        case integer, real, text, blob
    }
}
