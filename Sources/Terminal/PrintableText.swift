import QueryLanguage

extension String {
    /// The text in one line of visible characters: a character that a terminal acts on, or does not show, stands as its
    /// number, such as `\u{1B}`. See ``Swift/Unicode/Scalar/isVisible``.
    ///
    /// Joiners and variation selectors stay behind an emoji, and behind a letter of a script that is written with them.
    package var printable: String {
        guard !utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }), unicodeScalars.contains(where: { !$0.isVisible }) else {
            return self
        }
        var text = String.UnicodeScalarView()
        // Whether the characters before may have a joiner or a variation selector behind them.
        var admitsJoiner = false
        for scalar in unicodeScalars {
            if scalar.isVisible {
                text.append(scalar)
                admitsJoiner = scalar.isShapedByJoiners
            } else if admitsJoiner, scalar.isJoiner {
                text.append(scalar)
                // Behind a variation selector, a joiner can follow.
                admitsJoiner = scalar.properties.isVariationSelector
            } else {
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars
                admitsJoiner = false
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
    fileprivate var isJoiner: Bool { value == 0x200C || value == 0x200D || properties.isVariationSelector }

    /// Whether the character is an emoji, or a letter of Arabic, Syriac or the scripts of India.
    fileprivate var isShapedByJoiners: Bool {
        value > 0x7F && properties.isEmoji || (0x600...0x8FF).contains(value) || (0x900...0xDFF).contains(value)
    }
}
