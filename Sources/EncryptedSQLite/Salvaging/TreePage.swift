/// A page of a B-tree (SQLite file format, section 1.6).
struct TreePage {
    /// The kinds of pages, by the byte that begins them.
    enum Kind: UInt8 {
        case indexInterior = 2
        case tableInterior = 5
        case indexLeaf = 10
        case tableLeaf = 13

        var isInterior: Bool { self == .indexInterior || self == .tableInterior }
        var isTable: Bool { self == .tableInterior || self == .tableLeaf }
    }

    /// A cell: a row, an entry of an index, or the key between two children.
    struct Cell {
        /// The child page, whose keys are at most the key of the cell; nil on a leaf.
        var child: Int?
        /// The row ID; nil in an index.
        var key: Int64?
        /// The part of the payload on the page.
        var payload: ArraySlice<UInt8> = []
        /// The length of the whole payload.
        var payloadByteCount = 0
        /// The first page with the rest of the payload.
        var overflowPage: Int?
    }

    let kind: Kind
    let cells: [Cell]
    /// The last child page, whose keys are behind the keys of all cells; nil on a leaf.
    let lastChild: Int?

    /// Reads the content of a page; nil if it is not a page of a B-tree.
    init?(_ bytes: [UInt8], number: Int) {
        // The first page begins with the header of the database.
        let start = number == 1 ? 100 : 0
        guard let kind = Kind(rawValue: bytes[start]) else { return nil }
        var header = ByteReader(bytes, at: start + 3)
        guard let count = header.integer(2) else { return nil }
        header = ByteReader(bytes, at: start + 8)
        lastChild = kind.isInterior ? header.integer(4) : nil
        var cells: [Cell] = []
        cells.reserveCapacity(count)
        for _ in 0..<count {
            guard let offset = header.integer(2), let cell = Self.cell(at: offset, of: bytes, kind) else { return nil }
            cells.append(cell)
        }
        self.kind = kind
        self.cells = cells
    }

    private static func cell(at offset: Int, of bytes: [UInt8], _ kind: Kind) -> Cell? {
        var reader = ByteReader(bytes, at: offset)
        var cell = Cell()
        if kind.isInterior {
            guard let child = reader.integer(4) else { return nil }
            cell.child = child
        }
        if kind != .tableInterior {
            guard let count = reader.variableInteger(), count >= 0, count < 1 << 40 else { return nil }
            cell.payloadByteCount = Int(count)
        }
        if kind.isTable {
            guard let key = reader.variableInteger() else { return nil }
            cell.key = key
        }
        guard kind != .tableInterior else { return cell }
        let local = localByteCount(of: cell.payloadByteCount, isTable: kind.isTable)
        let end = reader.position + local
        guard end <= bytes.count else { return nil }
        cell.payload = bytes[reader.position..<end]
        if local < cell.payloadByteCount {
            var rest = ByteReader(bytes, at: end)
            guard let overflow = rest.integer(4) else { return nil }
            cell.overflowPage = overflow
        }
        return cell
    }

    /// The part of a payload that is on the page itself (SQLite file format, section 1.6, "Cell payload").
    private static func localByteCount(of byteCount: Int, isTable: Bool) -> Int {
        let usable = PageReader.usableByteCount
        let maximum = isTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
        guard byteCount > maximum else { return byteCount }
        let minimum = (usable - 12) * 32 / 255 - 23
        let rest = minimum + (byteCount - minimum) % (usable - 4)
        return rest <= maximum ? rest : minimum
    }
}
