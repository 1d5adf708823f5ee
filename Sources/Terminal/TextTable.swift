/// Rows of text in aligned columns.
///
/// ```
/// section      packages
/// libs            1,904
/// devel             871
/// ```
package struct TextTable {
    /// What stands above a column, and how its cells are aligned.
    package struct Column {
        let title: String
        let alignsRight: Bool

        /// A column of words.
        package static func text(_ title: String) -> Column { Column(title: title, alignsRight: false) }
        /// A column of numbers.
        package static func number(_ title: String) -> Column { Column(title: title, alignsRight: true) }
    }

    /// The columns.
    package let columns: [Column]
    /// The number of characters of each column.
    private let widths: [Int]

    private static let gap = "  "
    /// How far a cell that is too long is cut at most.
    private static let narrowest = 8

    /// Measures a table.
    ///
    /// - Parameters:
    ///   - columns: The columns.
    ///   - rows: The rows that decide how wide the columns are; each has a cell for each column.
    ///   - width: The number of characters for a line; the widest columns give way. Nil stands for no limit.
    package init(_ columns: [Column], fitting rows: [[String]], width: Int?) {
        self.columns = columns
        var widths = columns.indices.map { column in
            rows.reduce(columns[column].title.count) { max($0, $1[column].count) }
        }
        if let width {
            var excess = widths.reduce(0, +) + (widths.count - 1) * Self.gap.count - width
            while excess > 0, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }),
                widths[widest] > Self.narrowest
            {
                widths[widest] -= 1
                excess -= 1
            }
        }
        self.widths = widths
    }

    /// The line with the titles.
    package var header: String { line(columns.map(\.title)) }

    /// The line of a row. Cells that are too long are cut, and control characters are replaced.
    package func line(_ cells: [String]) -> String {
        let parts = zip(cells, zip(columns, widths)).map { cell, shape in
            cell.printable.truncated(to: shape.1).padded(to: shape.1, alignsRight: shape.0.alignsRight)
        }
        var line = parts.joined(separator: Self.gap)
        while line.last == " " { line.removeLast() }
        return line
    }

    /// The header and the rows, a line each.
    package static func lines(_ columns: [Column], _ rows: [[String]], width: Int? = Terminal.width) -> [String] {
        let table = TextTable(columns, fitting: rows, width: width)
        return [table.header] + rows.map(table.line)
    }
}
