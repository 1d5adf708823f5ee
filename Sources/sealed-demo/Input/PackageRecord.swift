/// The description of a package in a stanza of a package index.
struct PackageRecord {
    let name: String
    let version: String
    let architecture: String
    let section: String?
    let priority: String?
    let installedSize: Int?
    let summary: String
    let maintainer: String?
    /// The names of the virtual packages that the package provides.
    let provides: [String]
    /// The packages referred to by kind, each with its alternatives.
    let dependencies: [DependencyKind: [[String]]]

    /// The fields that a record uses.
    static let fieldNames =
        [
            "Package", "Version", "Architecture", "Section", "Priority", "Installed-Size", "Description", "Maintainer",
            "Provides",
        ] + DependencyKind.allCases.map(\.fieldName)

    /// Reads a stanza; nil if it does not name a package.
    init?(_ stanza: Stanza, report: (StanzaParser.Problem) -> Void) {
        guard let name = stanza["Package"], !name.isEmpty else {
            report(.init(line: stanza.line, reason: "begins a stanza without the field 'Package', which is skipped"))
            return nil
        }
        self.name = name
        version = stanza["Version"] ?? ""
        architecture = stanza["Architecture"] ?? ""
        section = stanza["Section"]
        priority = stanza["Priority"]
        maintainer = stanza["Maintainer"]
        summary = stanza["Description"].map { String($0.prefix { $0 != "\n" }) } ?? ""
        installedSize = stanza["Installed-Size"].flatMap(Int.init)
        if stanza["Installed-Size"] != nil, installedSize == nil {
            report(.init(line: stanza.line(of: "Installed-Size"), reason: "gives a size that is not a number"))
        }
        provides = Self.names(in: stanza["Provides"]).flatMap(\.self)
        dependencies = DependencyKind.allCases.reduce(into: [:]) { dependencies, kind in
            let names = Self.names(in: stanza[kind.fieldName])
            if !names.isEmpty { dependencies[kind] = names }
        }
    }

    /// Returns the names in a field such as `libc6 (>= 2.36), default-mta | mail-transport-agent, python3:any`, without
    /// versions, architectures and build profiles.
    private static func names(in field: String?) -> [[String]] {
        guard var field else { return [] }
        return field.withUTF8 { bytes in
            var groups: [[String]] = []
            var alternatives: [String] = []
            var position = 0
            while position < bytes.count {
                if bytes[position] <= UInt8(ascii: " ") {
                    position += 1
                    continue
                }
                let start = position
                while position < bytes.count, !endsName(bytes[position]) { position += 1 }
                if position > start { alternatives.append(String(decoding: bytes[start..<position], as: UTF8.self)) }
                // The text between a name and the next separator restricts the versions.
                while position < bytes.count, bytes[position] != comma, bytes[position] != bar { position += 1 }
                if position == bytes.count || bytes[position] == comma, !alternatives.isEmpty {
                    groups.append(alternatives)
                    alternatives = []
                }
                position += 1
            }
            if !alternatives.isEmpty { groups.append(alternatives) }
            return groups
        }
    }

    private static let comma = UInt8(ascii: ",")
    private static let bar = UInt8(ascii: "|")

    private static func endsName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, comma, bar, UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "<"), UInt8(ascii: ":"): true
        default: false
        }
    }
}
