import Terminal
import Testing

@Suite struct PrintableTextTests {
    @Test(arguments: [
        ("a\u{1B}[31m", #"a\u{1B}[31m"#), ("\n\r\t\0\u{7F}", #"\u{A}\u{D}\u{9}\u{0}\u{7F}"#),
        ("\u{80}\u{9B}2J\u{9F}", #"\u{80}\u{9B}2J\u{9F}"#), ("\u{61C}\u{200E}\u{200F}", #"\u{61C}\u{200E}\u{200F}"#),
        ("a\u{202E}b\u{202A}", #"a\u{202E}b\u{202A}"#), ("\u{2066}\u{2069}", #"\u{2066}\u{2069}"#),
        ("\u{2028}\u{2029}\u{85}", #"\u{2028}\u{2029}\u{85}"#),
        ("a\u{200B}b\u{200D}\u{FEFF}", #"a\u{200B}b\u{200D}\u{FEFF}"#),
        ("x\u{E0041}\u{E0001}", #"x\u{E0041}\u{E0001}"#),
        ("\u{AD}\u{34F}\u{3164}\u{FE0F}", #"\u{AD}\u{34F}\u{3164}\u{FE0F}"#),
        ("é\u{200D} 1\u{FE0F} 😀\u{200D}\u{200D}", #"é\u{200D} 1\u{FE0F} 😀"# + "\u{200D}" + #"\u{200D}"#),
        ("\u{FFF9}\u{1D173}", #"\u{FFF9}\u{1D173}"#),
    ])
    func `a character that a terminal acts on, or does not show, stands as its number`(text: String, printable: String)
    {
        #expect(text.printable == printable)
    }

    @Test(arguments: [
        "", "plain ~", "Grüße, 日本語, e\u{301}, עברית, हिन्दी", "😀\u{A0}½", "می\u{200C}خواهم",
        "👩\u{200D}🚒 ❤\u{FE0F}\u{200D}🔥",
    ])
    func `a visible text stays as it is`(text: String) {
        #expect(text.printable.unicodeScalars.elementsEqual(text.unicodeScalars))
    }
}
