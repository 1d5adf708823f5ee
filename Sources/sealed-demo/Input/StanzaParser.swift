import Foundation

/// A paragraph of a package index: fields with values.
struct Stanza {
    /// The number of its first line.
    let line: Int
    private var fields: [String: (value: String, line: Int)] = [:]

    fileprivate init(line: Int) { self.line = line }

    /// The value of a field, if it is one of the wanted fields; lines after the first begin with a line feed.
    subscript(name: String) -> String? { fields[name.lowercased()]?.value }

    /// Returns the number of a field's first line, or of the stanza's first line if it has no such field.
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
    /// A line that was skipped or repaired.
    struct Problem {
        /// Its number; the first line is 1.
        let line: Int
        /// The problem. It never quotes the line, which may contain any bytes.
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
        /// The previous line was malformed, or does not exist.
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
                if Self.trimmed(line).isEmpty {
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
        if Self.isBlank(line[0]) {
            readContinuation(line)
        } else if line[0] != UInt8(ascii: "#") {
            readField(line)
        }
    }

    private mutating func readContinuation(_ line: UnsafeRawBufferPointer) {
        switch field {
        case .none: report(Problem(line: lineCount, reason: "does not continue a field"))
        case .wanted(let name):
            let value = value(of: line)
            stanza?.extend(name, by: value)
        case .unwanted: break
        }
    }

    private mutating func readField(_ line: UnsafeRawBufferPointer) {
        field = .none
        guard let colon = Self.position(of: UInt8(ascii: ":"), in: line), colon > 0,
            let name = Self.fieldName(UnsafeRawBufferPointer(rebasing: line[..<colon]))
        else {
            report(Problem(line: lineCount, reason: "is not a field of the form 'Name: value'"))
            return
        }
        if stanza == nil { stanza = Stanza(line: lineCount) }
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

    // MARK: Bytes

    // The following functions run for every line of a file that may have a million lines. They use `memchr`, `memcmp`
    // and the decoder of `String`, which are equally fast in builds without optimisation.

    /// Returns the text without surrounding white space.
    private func value(of line: UnsafeRawBufferPointer) -> String {
        let bytes = Self.trimmed(line)
        var text = String(decoding: bytes, as: UTF8.self)
        let isUnchanged = text.withUTF8 { decoded in
            guard let new = decoded.baseAddress, let old = bytes.baseAddress else { return bytes.isEmpty }
            return decoded.count == bytes.count && memcmp(new, old, bytes.count) == 0
        }
        if !isUnchanged { report(Problem(line: lineCount, reason: "is not UTF-8; invalid bytes were replaced")) }
        return text
    }

    /// Returns the name of a field in lower case, or nil if it has a byte that is not visible ASCII.
    private static func fieldName(_ bytes: UnsafeRawBufferPointer) -> String? {
        for byte in bytes where byte <= 0x20 || byte >= 0x7F { return nil }
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }

    private static func trimmed(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var start = 0
        var end = line.count
        while start < end, isBlank(line[start]) { start += 1 }
        while end > start, isBlank(line[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: line[start..<end])
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func position(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let base = bytes.baseAddress, let found = memchr(base, Int32(byte), bytes.count) else { return nil }
        return UnsafeRawPointer(found) - base
    }

    /// Returns the position of the next line feed, or the end.
    private static func endOfLine(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
        return position(of: UInt8(ascii: "\n"), in: rest).map { start + $0 } ?? bytes.count
    }
}
