import ObjectGraph

/// Texts that a spreadsheet program shows, and does not evaluate as formulas.
///
/// A program evaluates a cell that begins with `=`, `+`, `-` or `@`. It may split a field into several cells, because
/// in some languages semicolons separate the fields of CSV: quotes do not protect the field then.
enum SpreadsheetText {
    /// The text of a property with an apostrophe before each place where a formula would begin. A number stays as it
    /// is, also a negative one.
    static func inert(_ text: String, of property: Property) -> String {
        guard case .attribute(let attribute) = property else { return text }
        return switch attribute.type.form {
        case .text, .url, .bytes: inert(text)
        case .integer, .unsigned, .boolean, .float, .double, .decimal, .date, .uuid, .json:
            isNumber(text) ? text : inert(text)
        }
    }

    /// The text with an apostrophe before each place where a formula would begin.
    static func inert(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var isStartOfCell = true
        for scalar in text.unicodeScalars {
            if isStartOfCell, beginsFormula(scalar) || result.isEmpty && (scalar == "\t" || scalar == "\r") {
                result.append("'")
            }
            result.append(scalar)
            switch scalar {
            case ";", "\t", "\n", "\r": isStartOfCell = true
            // A cell may begin with quotes, which the program removes.
            case "\"", " ": break
            default: isStartOfCell = false
            }
        }
        return String(result)
    }

    /// Whether a cell with this first character is a formula; some programs take characters of full width for the same.
    private static func beginsFormula(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "=", "+", "-", "@", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}": true
        default: false
        }
    }

    private static func isNumber(_ text: String) -> Bool {
        text.utf8.allSatisfy { ($0 >= 48 && $0 <= 57) || "+-.eE".utf8.contains($0) } && Double(text) != nil
    }
}
