/// A version number in the order of Debian: `1.0~rc1` < `1.0` < `1.0-1` < `1:0.9` (deb-version(7)).
struct DebianVersion: Comparable {
    private let epoch: Int
    private let upstream: [UInt8]
    private let revision: [UInt8]

    init(_ text: String) {
        var rest = Substring(text)
        if let colon = rest.firstIndex(of: ":") {
            epoch = Int(rest[..<colon]) ?? 0
            rest = rest[rest.index(after: colon)...]
        } else {
            epoch = 0
        }
        if let dash = rest.lastIndex(of: "-") {
            revision = Array(rest[rest.index(after: dash)...].utf8)
            rest = rest[..<dash]
        } else {
            revision = []
        }
        upstream = Array(rest.utf8)
    }

    static func < (left: DebianVersion, right: DebianVersion) -> Bool {
        if left.epoch != right.epoch { return left.epoch < right.epoch }
        let order = compare(left.upstream, right.upstream)
        return order == 0 ? compare(left.revision, right.revision) < 0 : order < 0
    }

    static func == (left: DebianVersion, right: DebianVersion) -> Bool { !(left < right) && !(right < left) }

    /// Compares alternating sequences of other characters and of digits. Sequences of digits are compared as numbers.
    private static func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var left = left[...]
        var right = right[...]
        while !left.isEmpty || !right.isEmpty {
            while left.first.map(isDigit) == false || right.first.map(isDigit) == false {
                let order = rank(left.first) - rank(right.first)
                if order != 0 { return order }
                left = left.dropFirst()
                right = right.dropFirst()
            }
            let leftNumber = takeNumber(from: &left)
            let rightNumber = takeNumber(from: &right)
            if leftNumber.count != rightNumber.count { return leftNumber.count - rightNumber.count }
            for (one, other) in zip(leftNumber, rightNumber) where one != other { return Int(one) - Int(other) }
        }
        return 0
    }

    /// Removes the digits at the beginning and returns them without leading zeros.
    private static func takeNumber(from text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let number = text.prefix(while: isDigit)
        text = text.dropFirst(number.count)
        return number.drop { $0 == UInt8(ascii: "0") }
    }

    /// Returns the order of a character outside numbers: a tilde, the end or a digit, letters, all others.
    private static func rank(_ byte: UInt8?) -> Int {
        switch byte {
        case UInt8(ascii: "~"): -1
        case nil: 0
        case let byte? where isDigit(byte): 0
        case let byte? where isLetter(byte): Int(byte)
        case let byte?: Int(byte) + 256
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    private static func isLetter(_ byte: UInt8) -> Bool {
        let lower = byte | 0x20
        return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
    }
}
