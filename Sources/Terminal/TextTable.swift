/// Rows of text in aligned columns.
///
/// ```
/// section      packages
/// libs            1,904
/// devel             871
/// ```
package struct TextTable {
    /// The title of a column, and whether it contains words or numbers.
    package struct Column {
        let title: String
        let isNumber: Bool

        /// A column of words.
        package static func text(_ title: String) -> Column { Column(title: title, isNumber: false) }
        /// A column of numbers or keys, which are aligned right and never truncated: a truncated number would be a
        /// different number.
        package static func number(_ title: String) -> Column { Column(title: title, isNumber: true) }
    }

    /// The columns.
    package let columns: [Column]
    /// The number of characters of each column.
    private let widths: [Int]
    /// Whether lines have a maximum width.
    private let isLimited: Bool

    private static let gap = "  "
    /// The minimum width of a column whose cells are truncated.
    private static let narrowest = 8

    /// Measures a table.
    ///
    /// - Parameters:
    ///   - columns: The columns.
    ///   - rows: The rows that determine the widths of the columns; each has one cell for each column.
    ///   - width: The maximum number of characters in a line; the widest columns of words shrink. Nil means no limit:
    ///     no cell is truncated.
    package init(_ columns: [Column], fitting rows: [[String]], width: Int?) {
        self.columns = columns
        var widths = columns.indices.map { column in
            rows.reduce(columns[column].title.printable.count) { max($0, $1[column].printable.count) }
        }
        if let width {
            var excess = widths.reduce(0, +) + (widths.count - 1) * Self.gap.count - width
            let words = columns.indices.filter { !columns[$0].isNumber }
            while excess > 0, let widest = words.max(by: { widths[$0] < widths[$1] }),
                widths[widest] > Self.narrowest
            {
                widths[widest] -= 1
                excess -= 1
            }
        }
        self.widths = widths
        isLimited = width != nil
    }

    /// The line with the titles.
    package var header: String { line(columns.map(\.title)) }

    /// Returns the line of a row, in which all characters are visible: see ``Swift/String/printable``.
    ///
    /// A cell that is longer than the cells of the measured rows is truncated if it is a word and lines have a maximum
    /// width; otherwise the rest of the line moves to the right.
    package func line(_ cells: [String]) -> String {
        let parts = zip(cells, zip(columns, widths)).map { cell, shape in
            let (column, width) = shape
            let text = cell.printable
            let shown = isLimited && !column.isNumber ? text.truncated(to: width) : text
            return shown.padded(to: width, alignsRight: column.isNumber)
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
