/// The names under which a file or folder is built before it has its own name: `.NAME.NUMBER.creating`, and names for
/// one purpose, such as `.NAME.replacing`.
///
/// They are longer than the name itself, and file systems allow 255 bytes. In place of a long name they have its
/// beginning and a hash of it, so that the leftovers of a file are distinguished from those of all others.
struct TemporaryName {
    private static let suffix = ".creating"
    private static let digitCount = 16
    /// The number of bytes that a temporary name has more than the name.
    private static let addition = 2 + digitCount + suffix.utf8.count
    /// The longest name that temporary names contain unchanged, in bytes. A database that is created under a temporary
    /// name has a further temporary name meanwhile, to which SQLite appends `-journal`.
    private static let longestStem = 255 - 2 * addition - "-journal".utf8.count
    /// The mark between the beginning of a long name and its hash.
    private static let mark = UInt8(ascii: "~")

    private let stem: String

    init(of files: DatabaseFiles) { stem = Self.stem(of: files.name) }

    /// A name that no other file has.
    func unused() -> String {
        ".\(stem).\(String(UInt64.random(in: .min ... .max), radix: 16))\(Self.suffix)"
    }

    /// The name for a purpose, which is always the same.
    func fixed(_ purpose: String) -> String { ".\(stem).\(purpose)" }

    /// Whether a name is one of ``unused()`` for the same file.
    func matches(_ name: String) -> Bool { parts(of: name, behind: ".\(stem).")?.count == 1 }

    /// Whether a name is the temporary name of a file that has itself a temporary name for the same file.
    func matchesNested(_ name: String) -> Bool {
        guard let parts = parts(of: name, behind: "..\(stem).") else { return false }
        return parts.count == 3 && parts[1] == Self.suffix.dropFirst()
    }

    /// The parts of a temporary name between a prefix and the suffix, which points separate: the files of a database
    /// with the name `NAME.x` begin with `.NAME.`, too.
    private func parts(of name: String, behind prefix: String) -> [Substring]? {
        guard name.hasPrefix(prefix), name.hasSuffix(Self.suffix), name.count > prefix.count + Self.suffix.count else {
            return nil
        }
        return name.dropFirst(prefix.count).dropLast(Self.suffix.count)
            .split(separator: ".", omittingEmptySubsequences: false)
    }

    // MARK: Long names

    private static func stem(of name: String) -> String {
        // A temporary name is short enough for a further one.
        let isTemporary = name.hasPrefix(".") && name.hasSuffix(suffix)
        let limit = isTemporary ? longestStem + addition : longestStem
        guard name.utf8.count > limit || looksShortened(name) else { return name }
        var stem = ""
        var rest = longestStem - digitCount - 1
        for character in name {
            rest -= character.utf8.count
            guard rest >= 0 else { break }
            stem.append(character)
        }
        return stem + String(UnicodeScalar(mark)) + hash(of: name)
    }

    /// Whether a name ends like a stem with a hash. It gets a hash of its own, so that it is no other file's stem.
    private static func looksShortened(_ name: String) -> Bool {
        let end = name.utf8.suffix(digitCount + 1)
        return end.count == digitCount + 1 && end.first == mark
            && end.dropFirst().allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    /// The FNV-1a hash of a name in hexadecimal digits, the same in every process.
    private static func hash(of name: String) -> String {
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: digitCount - digits.count) + digits
    }
}
