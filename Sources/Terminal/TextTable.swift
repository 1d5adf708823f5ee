/// Rows of text in aligned columns.
///
/// ```
/// section      packages
/// libs            1,904
/// devel             871
/// ```
package struct TextTable {
    /// The title and the alignment of a column.
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
    /// The minimum width of a column whose cells are truncated.
    private static let narrowest = 8

    /// Measures a table.
    ///
    /// - Parameters:
    ///   - columns: The columns.
    ///   - rows: The rows that determine the widths of the columns; each has one cell for each column.
    ///   - width: The maximum number of characters in a line; the widest columns shrink. Nil means no limit.
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

    /// Returns the line of a row. Long cells are truncated, and control characters are replaced.
    package func line(_ cells: [String]) -> String {
        let parts = zip(cells, zip(columns, widths)).map { cell, shape in
            cell.printable.truncated(to: shape.1).padded(to: shape.1, alignsRight: shape.0.alignsRight)
        }
        var line = parts.joined(separator: Self.gap)
        while line.last == " " { line.removeLast() }
        return line
    }

    /// Returns the header and the rows, one line each.
    package static func lines(_ columns: [Column], _ rows: [[String]], width: Int? = Terminal.width) -> [String] {
        let table = TextTable(columns, fitting: rows, width: width)
        return [table.header] + rows.map(table.line)
    }
}
