/// A value in a row that was read without SQLite.
package enum StoredValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    /// The bytes of a text in UTF-8.
    case text([UInt8])
    case blob([UInt8])
    /// The value is on a damaged page.
    case lost
}

/// The values of a row (SQLite file format, section 2.1).
struct Record {
    /// The values. Values of trailing columns that were added later are absent.
    let values: [StoredValue]

    /// Decodes a payload, of which only a beginning may be available.
    ///
    /// - Parameters:
    ///   - bytes: The available bytes.
    ///   - byteCount: The length of the whole payload.
    /// - Returns: nil if the types of the values are not available, or the payload is no record.
    init?(_ bytes: [UInt8], byteCount: Int) {
        var reader = ByteReader(bytes)
        guard let headerByteCount = reader.variableInteger(), headerByteCount >= 1, headerByteCount <= bytes.count
        else {
            return nil
        }
        var types: [Int64] = []
        while reader.position < Int(headerByteCount) {
            guard let type = reader.variableInteger(), type >= 0 else { return nil }
            types.append(type)
        }
        guard reader.position == Int(headerByteCount) else { return nil }
        var values: [StoredValue] = []
        values.reserveCapacity(types.count)
        var position = Int(headerByteCount)
        for type in types {
            guard let count = Self.byteCount(of: type), position + count <= byteCount else { return nil }
            values.append(
                position + count <= bytes.count ? Self.value(of: type, bytes[position..<position + count]) : .lost
            )
            position += count
        }
        self.values = values
    }

    /// The length of a value of a serial type; nil for a type that SQLite does not use.
    private static func byteCount(of type: Int64) -> Int? {
        switch type {
        case 0, 8, 9: 0
        case 1...4: Int(type)
        case 5: 6
        case 6, 7: 8
        case 12...: type < 1 << 40 ? Int(type - 12) / 2 : nil
        default: nil
        }
    }

    private static func value(of type: Int64, _ bytes: ArraySlice<UInt8>) -> StoredValue {
        switch type {
        case 0: .null
        case 8: .integer(0)
        case 9: .integer(1)
        case 7: .real(Double(bitPattern: bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }))
        case 1...6:
            .integer(bytes.dropFirst().reduce(Int64(Int8(bitPattern: bytes.first!))) { $0 << 8 | Int64($1) })
        default: type % 2 == 0 ? .blob(Array(bytes)) : .text(Array(bytes))
        }
    }
}

/// Reads numbers from bytes, and returns nil behind their end.
struct ByteReader {
    private let bytes: [UInt8]
    private(set) var position: Int

    init(_ bytes: [UInt8], at position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    /// A big-endian integer of SQLite's variable length: up to nine bytes, of which the ninth has eight bits.
    mutating func variableInteger() -> Int64? {
        var result: UInt64 = 0
        for index in 0..<9 {
            guard position < bytes.count else { return nil }
            let byte = bytes[position]
            position += 1
            if index == 8 {
                result = result << 8 | UInt64(byte)
            } else {
                result = result << 7 | UInt64(byte & 0x7f)
                if byte < 0x80 { break }
            }
        }
        return Int64(bitPattern: result)
    }

    /// A big-endian integer of a number of bytes.
    mutating func integer(_ count: Int) -> Int? {
        guard position + count <= bytes.count else { return nil }
        defer { position += count }
        return bytes[position..<position + count].reduce(0) { $0 << 8 | Int($1) }
    }
}
