import Foundation

/// A paragraph of a package index: fields with values.
struct Stanza {
    /// The number of its first line.
    let line: Int
    private var fields: [String: (value: String, line: Int)] = [:]

    fileprivate init(line: Int) { self.line = line }

    /// The value of a field, if the parser was to keep it; lines after the first begin with a line feed.
    subscript(name: String) -> String? { fields[name.lowercased()]?.value }

    /// The number of the line in which a field begins; that of the stanza where it has no such field.
    func line(of name: String) -> Int { fields[name.lowercased()]?.line ?? line }

    fileprivate func contains(_ name: String) -> Bool { fields[name] != nil }
    fileprivate mutating func set(_ name: String, to value: String, line: Int) { fields[name] = (value, line) }
    fileprivate mutating func extend(_ name: String, by value: String) { fields[name]?.value += "\n" + value }
}

/// Splits a package index into stanzas (the format "deb822": RFC 822 headers in paragraphs; see the manual page
/// deb822(5)).
///
/// A line that breaks the rules is reported and skipped.
struct StanzaParser {
    /// A line that was skipped or mended.
    struct Problem {
        /// Its number; the first line is 1.
        let line: Int
        /// What is wrong. It never quotes the line, which may hold anything.
        let reason: String
    }

    /// The names of the fields to keep, in lower case.
    let wanted: Set<String>
    /// Called for every line that breaks the rules.
    let report: (Problem) -> Void

    /// The number of lines read so far.
    private(set) var lineCount = 0
    private var stanza: Stanza?
    /// The field that the next continuation line belongs to.
    private var field = Field.none

    private enum Field {
        /// The line before was no field: it was malformed, or there was none.
        case none
        case wanted(String)
        case unwanted
    }

    /// Makes a parser.
    ///
    /// - Parameter wanted: The names of the fields to keep, in any case.
    init(wanted: [String], report: @escaping (Problem) -> Void) {
        self.wanted = Set(wanted.map { $0.lowercased() })
        self.report = report
    }

    /// Calls `body` with every stanza of a text in UTF-8. Bytes that are not UTF-8 are replaced by U+FFFD.
    mutating func parse(_ text: Data, _ body: (Stanza) throws -> Void) rethrows {
        try text.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let end = Self.endOfLine(in: bytes, from: start)
                var line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                if line.last == UInt8(ascii: "\r") { line = UnsafeRawBufferPointer(rebasing: line.dropLast()) }
                start = end + 1
                lineCount += 1
                if line.allSatisfy(Self.isBlank) {
                    try finishStanza(body)
                } else {
                    read(line)
                }
            }
            try finishStanza(body)
        }
    }

    private mutating func finishStanza(_ body: (Stanza) throws -> Void) rethrows {
        field = .none
        guard let finished = stanza else { return }
        stanza = nil
        try body(finished)
    }

    private mutating func read(_ line: UnsafeRawBufferPointer) {
        if stanza == nil { stanza = Stanza(line: lineCount) }
        if Self.isBlank(line[0]) {
            readContinuation(line)
        } else if line[0] != UInt8(ascii: "#") {
            readField(line)
        }
    }

    private mutating func readContinuation(_ line: UnsafeRawBufferPointer) {
        switch field {
        case .none: report(Problem(line: lineCount, reason: "continues no field"))
        case .wanted(let name):
            let value = value(of: line)
            stanza?.extend(name, by: value)
        case .unwanted: break
        }
    }

    private mutating func readField(_ line: UnsafeRawBufferPointer) {
        field = .none
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            line[..<colon].allSatisfy(Self.isNameCharacter)
        else {
            report(Problem(line: lineCount, reason: "is no field of the form 'Name: value'"))
            return
        }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        guard wanted.contains(name) else {
            field = .unwanted
            return
        }
        guard stanza?.contains(name) == false else {
            report(Problem(line: lineCount, reason: "repeats a field of the stanza"))
            field = .unwanted
            return
        }
        let value = value(of: UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]))
        stanza?.set(name, to: value, line: lineCount)
        field = .wanted(name)
    }

    /// The text without the white space around it.
    private func value(of line: UnsafeRawBufferPointer) -> String {
        var bytes = line[...]
        while let first = bytes.first, Self.isBlank(first) { bytes.removeFirst() }
        while let last = bytes.last, Self.isBlank(last) { bytes.removeLast() }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        report(Problem(line: lineCount, reason: "is not UTF-8; what is broken was replaced"))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// Whether a byte may stand in a field's name: visible ASCII without the colon.
    private static func isNameCharacter(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }

    /// The position of the next line feed, or the end. `memchr` keeps this fast in unoptimised builds.
    private static func endOfLine(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        guard let base = bytes.baseAddress, let found = memchr(base + start, 0x0A, bytes.count - start) else {
            return bytes.count
        }
        return UnsafeRawPointer(found) - base
    }
}
