extension Unicode.Scalar {
    /// Whether a terminal shows the character, and does nothing else.
    ///
    /// False for control characters, line breaks among them, which could move the cursor or change the terminal's state;
    /// for characters that change the direction of the text around them; and for characters without a shape, with which
    /// two different names look the same.
    package var isVisible: Bool {
        if value < 0x7F { return value >= 0x20 }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return false
        default: return !properties.isDefaultIgnorableCodePoint
        }
    }
}
