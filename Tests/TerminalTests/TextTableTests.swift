import Terminal
import Testing

@Suite struct TextTableTests {
    private let columns: [TextTable.Column] = [.text("section"), .number("packages")]

    @Test func `words are aligned left and numbers right`() {
        let lines = TextTable.lines(columns, [["libs", "1,904"], ["contrib/games", "7"]], width: nil)
        #expect(lines == ["section        packages", "libs              1,904", "contrib/games         7"])
    }

    @Test func `the widest column is truncated if the line is too short`() {
        let lines = TextTable.lines(columns, [["contrib/games", "7"]], width: 20)
        #expect(lines == ["section     packages", "contrib/g…         7"])
    }

    @Test func `a number is never truncated`() {
        let table = TextTable(columns, fitting: [["contrib/games", "7"]], width: 20)
        #expect(table.line(["contrib/games", "1,000,000,000"]) == "contrib/g…  1,000,000,000")
        let narrow = TextTable.lines(columns, [["games", "123456789012345678901234567890"]], width: 20)
        #expect(narrow.last == "games    123456789012345678901234567890")
    }

    @Test func `without a width no cell is truncated`() {
        let table = TextTable(columns, fitting: [["libs", "7"]], width: nil)
        #expect(table.line(["contrib/games", "10,000,000"]) == "contrib/games  10,000,000")
    }

    @Test func `a table without rows has its titles`() {
        #expect(TextTable.lines(columns, [], width: nil) == ["section  packages"])
    }

    @Test func `columns have room for the numbers of characters that would change the terminal`() {
        let lines = TextTable.lines(
            [.text("a\u{9B}"), .number("n")],
            [["\u{1B}[31m", "1"], ["b\nc", "2"]],
            width: nil
        )
        #expect(lines == [#"a\u{9B}     n"#, #"\u{1B}[31m  1"#, #"b\u{A}c     2"#])
    }
}
