import Foundation

/// The names of the folders in which a file or folder is built before it has its name: `.NAME.NUMBER.creating`, and names
/// for one purpose, such as `.NAME.replacing`.
///
/// They are longer than the name itself, and file systems allow 255 bytes. A long name is shortened to its beginning
/// and a hash of all of it, so that the leftovers of different files have different names.
struct TemporaryName {
    private static let suffix = ".creating"
    private static let digitCount = 16
    /// The number of bytes by which a temporary name is longer than the name.
    private static let addition = 2 + digitCount + suffix.utf8.count
    /// The longest name that temporary names contain unchanged, in bytes. Other versions of the package have to find
    /// the files of a name: an earlier version created databases under a temporary name of a temporary name, to which
    /// SQLite appends `-journal`.
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

    /// Whether a name is one of ``unused()`` for the same file. The names for a file `NAME.x` begin with `.NAME.`, too.
    func matches(_ name: String) -> Bool {
        let prefix = ".\(stem)."
        guard name.hasPrefix(prefix), name.hasSuffix(Self.suffix), name.count > prefix.count + Self.suffix.count else {
            return false
        }
        return !name.dropFirst(prefix.count).dropLast(Self.suffix.count).contains(".")
    }

    /// The names in a folder that have the form of ``unused()``, for any file.
    ///
    /// - Parameter limit: The number of names in the folder after which the search ends.
    static func names(in folder: String, limit: Int) -> [String] {
        guard let entries = opendir(folder) else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        var rest = limit
        while rest > 0, let entry = readdir(entries) {
            rest -= 1
            guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
            let name = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            let suffixOffset = Int(strlen(name)) - suffix.utf8.count
            guard name[0] == CChar(UInt8(ascii: ".")), suffixOffset > 2, strcmp(name + suffixOffset, suffix) == 0 else {
                continue
            }
            let text = String(cString: name)
            if hasNumber(text) { names.append(text) }
        }
        return names
    }

    /// Whether a name has a number before the suffix. Other programs have temporary names with the same suffix.
    private static func hasNumber(_ name: String) -> Bool {
        let parts = name.utf8.dropLast(suffix.utf8.count).split(separator: UInt8(ascii: "."))
        guard parts.count > 1, let number = parts.last, number.count <= digitCount else { return false }
        return number.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    // MARK: Long names

    private static func stem(of name: String) -> String {
        guard name.utf8.count > longestStem || looksShortened(name) else { return name }
        var stem = ""
        var rest = longestStem - digitCount - 1
        for character in name {
            rest -= character.utf8.count
            guard rest >= 0 else { break }
            stem.append(character)
        }
        return stem + String(UnicodeScalar(mark)) + hash(of: name)
    }

    /// Whether a name ends like a stem with a hash. Such a name is hashed again, so that it is not the stem of another
    /// file.
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
