extension String {
    /// The text in one line of visible characters: a character that a terminal acts on, or does not show, stands as its
    /// number, such as `\u{1B}`.
    ///
    /// These are control characters, line breaks among them, which could move the cursor or change the terminal's state;
    /// characters that change the direction of the text around them; and characters without a shape, with which two
    /// different names look the same.
    package var printable: String {
        guard !utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }), unicodeScalars.contains(where: { !$0.isPrintable }) else {
            return self
        }
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar.isPrintable {
                text.append(scalar)
            } else {
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars
            }
        }
        return String(text)
    }

    /// Returns the text in at most `width` characters, with an ellipsis if it is truncated.
    package func truncated(to width: Int) -> String {
        count <= width ? self : String(prefix(max(width - 1, 0))) + "…"
    }

    /// Returns the text padded with spaces to `width` characters.
    package func padded(to width: Int, alignsRight: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(width - count, 0))
        return alignsRight ? spaces + self : self + spaces
    }
}

extension Unicode.Scalar {
    fileprivate var isPrintable: Bool {
        if value < 0x7F { return value >= 0x20 }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return false
        default: return !properties.isDefaultIgnorableCodePoint
        }
    }
}
