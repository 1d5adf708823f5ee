/// The records of a CSV file (RFC 4180).
///
/// Records end with a line feed, or a carriage return and a line feed; a field between quotes may contain line breaks,
/// commas, and quotes that are doubled.
struct CSVReader {
    /// A field of a record.
    struct Field: Equatable {
        let text: String
        /// Whether the field stands between quotes: an empty field without quotes has no value.
        let isQuoted: Bool
        let place: SourcePlace

        /// Whether the field has no value.
        var isNull: Bool { text.isEmpty && !isQuoted }
    }

    let file: InputFile
    private let limit: Int
    private var chunk: [UInt8] = []
    private var position = 0
    /// The place of the next byte.
    private var place: SourcePlace

    init(_ file: InputFile, limit: Int) {
        self.file = file
        self.limit = limit
        place = SourcePlace(file: file.name, line: 1)
    }

    private mutating func peek() throws -> UInt8? {
        if position == chunk.count {
            guard let next = try file.nextChunk() else { return nil }
            (chunk, position) = (next, 0)
        }
        return chunk[position]
    }

    private mutating func skip() {
        if chunk[position] == 0x0A {
            place.line += 1
            place.column = 1
        } else {
            place.column += 1
        }
        position += 1
    }

    /// The next record; nil at the end of the file. An empty line is left out.
    ///
    /// - Parameter fieldLimit: The largest number of fields. A field needs much more memory than its bytes in the file.
    /// - Throws: ``TransferError/malformed(file:line:column:reason:)``, ``TransferError/lineTooLong(file:line:)``.
    mutating func next(fieldLimit: Int) throws -> [Field]? {
        while true {
            guard try peek() != nil else { return nil }
            var fields: [Field] = []
            var byteCount = 0
            let firstLine = place.line
            repeat {
                guard fields.count < fieldLimit else {
                    throw place.error("the record has more than \(fieldLimit) fields")
                }
                let field = try field(&byteCount, firstLine)
                fields.append(field)
            } while try takeComma()
            if fields.count == 1, fields[0].isNull { continue }
            return fields
        }
    }

    /// Reads over a comma, or over the end of the record. Returns whether it was a comma.
    private mutating func takeComma() throws -> Bool {
        guard let byte = try peek() else { return false }
        skip()
        if byte == UInt8(ascii: ",") { return true }
        if byte == 0x0D, try peek() == 0x0A { skip() }
        return false
    }

    private mutating func field(_ byteCount: inout Int, _ firstLine: Int) throws -> Field {
        let start = place
        var bytes: [UInt8] = []
        func count() throws {
            byteCount += 1
            if byteCount > limit { throw TransferError.lineTooLong(file: file.name, line: firstLine) }
        }
        func append(_ byte: UInt8) throws {
            bytes.append(byte)
            try count()
        }
        // Counts the separator before the field.
        try count()
        let isQuoted = try peek() == UInt8(ascii: "\"")
        if isQuoted {
            skip()
            while true {
                guard let byte = try peek() else { throw start.error("the file ends within a quoted field") }
                skip()
                if byte == UInt8(ascii: "\"") {
                    guard try peek() == UInt8(ascii: "\"") else { break }
                    skip()
                }
                try append(byte)
            }
            switch try peek() {
            case nil, UInt8(ascii: ","), 0x0A, 0x0D: break
            default: throw place.error("a comma or the end of the line is expected after a quoted field")
            }
        } else {
            while let byte = try peek(), byte != UInt8(ascii: ","), byte != 0x0A, byte != 0x0D {
                guard byte != UInt8(ascii: "\"") else { throw place.error("a quote within a field without quotes") }
                skip()
                try append(byte)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw start.error("the text is not UTF-8") }
        return Field(text: text, isQuoted: isQuoted, place: start)
    }
}
