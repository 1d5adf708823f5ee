import Foundation

/// The size of the values in a binary property list, which is measured before the list is read.
///
/// Several arrays and dictionaries of a property list can refer to the same object, of which JSON has a copy in each
/// place: forty arrays, each of which contains the next one twice, become 2⁴⁰ values. The size counts all copies. Other
/// forms of property lists cannot share an object.
///
/// The format is described in `CFBinaryPList.c` of CoreFoundation: the objects, a table of their offsets, and a
/// trailer. The first byte of an object has its kind and its count. An array is a list of references; a dictionary is
/// the references of its keys, followed by the references of its values.
struct PropertyListSize {
    /// The size of an object with all objects to which it refers.
    private struct Part {
        var byteCount = PropertyListSize.valueByteCount
        /// The number of nested values, with the object itself.
        var depth = 1
    }

    private let bytes: [UInt8]
    private let offsetByteCount: Int
    private let referenceByteCount: Int
    private let objectCount: Int
    private let topObject: Int
    /// The position of the table of offsets, which is the end of the objects.
    private let offsetTable: Int
    /// The arrays and dictionaries that were measured, so that each is measured once.
    private var parts: [Int: Part] = [:]
    /// The arrays and dictionaries that are being measured.
    private var open: Set<Int> = []
    /// The number of references that were read.
    private var referenceCount = 0

    /// The memory of a value without its text.
    private static let valueByteCount = 64
    /// The largest size.
    private static let byteLimit = 256 << 20
    /// The deepest nesting, the same as for JSON in an import.
    private static let depthLimit = 512
    private static let headerByteCount = 8
    private static let trailerByteCount = 32
    private static let damage = ValueReading.Unfit(reason: "the property list is damaged")

    /// Checks the size of a binary property list.
    ///
    /// - Throws: ``ValueReading/Unfit`` for a list that is too large or too deeply nested, that contains itself, or
    ///   whose structure is damaged.
    /// - Complexity: O(number of bytes).
    static func check(_ data: Data) throws(ValueReading.Unfit) {
        guard var size = PropertyListSize(data) else { throw damage }
        let top = size.topObject
        _ = try size.measure(top, level: 0)
    }

    /// Reads the trailer; nil if it is damaged.
    private init?(_ data: Data) {
        bytes = [UInt8](data)
        guard bytes.count >= Self.headerByteCount + Self.trailerByteCount, bytes.starts(with: "bplist0".utf8) else {
            return nil
        }
        let trailer = bytes.count - Self.trailerByteCount
        offsetByteCount = Int(bytes[trailer + 6])
        referenceByteCount = Int(bytes[trailer + 7])
        guard let objectCount = Self.number(in: bytes, at: trailer + 8, 8),
            let topObject = Self.number(in: bytes, at: trailer + 16, 8),
            let offsetTable = Self.number(in: bytes, at: trailer + 24, 8)
        else { return nil }
        self.objectCount = objectCount
        self.topObject = topObject
        self.offsetTable = offsetTable
        guard (1...8).contains(offsetByteCount), (1...8).contains(referenceByteCount), topObject < objectCount,
            (Self.headerByteCount...trailer).contains(offsetTable),
            objectCount <= (trailer - offsetTable) / offsetByteCount
        else { return nil }
    }

    /// The big-endian number of up to eight bytes at a position; nil beyond the bytes, and for a number beyond `Int`.
    private static func number(in bytes: [UInt8], at position: Int, _ count: Int) -> Int? {
        guard position >= 0, count <= 8, position <= bytes.count - count else { return nil }
        var number: UInt64 = 0
        for byte in bytes[position..<(position + count)] { number = number << 8 | UInt64(byte) }
        return Int(exactly: number)
    }

    /// Measures an object.
    ///
    /// - Parameter level: The number of arrays and dictionaries around the object.
    private mutating func measure(_ object: Int, level: Int) throws(ValueReading.Unfit) -> Part {
        let known = parts[object]
        guard level + (known?.depth ?? 1) <= Self.depthLimit else {
            throw ValueReading.Unfit(reason: "the property list is nested too deeply")
        }
        if let known { return known }
        guard object < objectCount,
            let start = Self.number(in: bytes, at: offsetTable + object * offsetByteCount, offsetByteCount),
            start >= Self.headerByteCount, start < offsetTable
        else { throw Self.damage }
        let kind = bytes[start] >> 4
        var position = start + 1
        switch kind {
        case 0x4, 0x5, 0x6, 0x7:
            // A text of kind 6 is UTF-16.
            let unit = kind == 0x6 ? 2 : 1
            let count = try count(of: start, &position, unit: unit)
            return Part(byteCount: Self.valueByteCount + count * unit)
        case 0xA, 0xB, 0xC, 0xD:
            // An element of a dictionary is a key and a value.
            let perElement = kind == 0xD ? 2 : 1
            let count = try count(of: start, &position, unit: perElement * referenceByteCount)
            let part = try measure(count * perElement, at: position, of: object, level: level)
            parts[object] = part
            return part
        default: return Part()
        }
    }

    /// Measures an array or a dictionary.
    ///
    /// - Parameters:
    ///   - count: The number of its references.
    ///   - position: The position of the first one.
    private mutating func measure(
        _ count: Int,
        at position: Int,
        of object: Int,
        level: Int
    ) throws(ValueReading.Unfit) -> Part {
        // Objects that share bytes would have more references than the file has bytes for.
        referenceCount += count
        guard referenceCount <= bytes.count, open.insert(object).inserted else { throw Self.damage }
        defer { open.remove(object) }
        var part = Part()
        for index in 0..<count {
            let place = position + index * referenceByteCount
            guard let reference = Self.number(in: bytes, at: place, referenceByteCount) else { throw Self.damage }
            let element = try measure(reference, level: level + 1)
            part.depth = max(part.depth, element.depth + 1)
            // Cannot overflow: no part is beyond the limit.
            part.byteCount += element.byteCount
            guard part.byteCount <= Self.byteLimit else {
                throw ValueReading.Unfit(reason: "the property list is too large")
            }
        }
        return part
    }

    /// The count of an object, whose content must end before the table of offsets.
    ///
    /// - Parameters:
    ///   - start: The position of the object.
    ///   - position: The position behind the first byte, which moves behind the count.
    ///   - unit: The number of bytes of each counted part.
    private func count(
        of start: Int,
        _ position: inout Int,
        unit: Int
    ) throws(ValueReading.Unfit) -> Int {
        var count = Int(bytes[start] & 0xF)
        if count == 0xF {
            // The number is an object itself: 0x10 and the binary logarithm of its length, then its bytes.
            let marker = position < offsetTable ? bytes[position] : 0
            guard marker >> 4 == 0x1, marker & 0xF <= 3 else { throw Self.damage }
            let byteCount = 1 << Int(marker & 0xF)
            guard let number = Self.number(in: bytes, at: position + 1, byteCount) else { throw Self.damage }
            position += 1 + byteCount
            count = number
        }
        guard position <= offsetTable, count <= (offsetTable - position) / unit else { throw Self.damage }
        return count
    }
}
