/// The lines of a text file, which end with a line feed or with a carriage return and a line feed.
struct LineReader {
    let file: InputFile
    /// The number of the last line, from 1.
    private(set) var lineNumber = 0
    private let limit: Int
    private var chunk: ArraySlice<UInt8> = []

    init(_ file: InputFile, limit: Int) {
        self.file = file
        self.limit = limit
    }

    /// The next line without its end; nil at the end of the file.
    ///
    /// - Throws: ``TransferError/lineTooLong(file:line:)``.
    mutating func next() throws -> [UInt8]? {
        var line: [UInt8] = []
        var isAny = false
        while true {
            if chunk.isEmpty {
                guard let next = try file.nextChunk() else { break }
                chunk = next[...]
            }
            isAny = true
            let end = chunk.firstIndex(of: 0x0A)
            line += chunk[..<(end ?? chunk.endIndex)]
            guard line.count <= limit else { throw TransferError.lineTooLong(file: file.name, line: lineNumber + 1) }
            if let end {
                chunk = chunk[(end + 1)...]
                break
            }
            chunk = []
        }
        guard isAny else { return nil }
        lineNumber += 1
        if line.last == 0x0D { line.removeLast() }
        return line
    }
}
