import Terminal
import Testing

@Suite struct GroupedNumberTests {
    @Test(arguments: [
        (0, "0"), (999, "999"), (1_000, "1,000"), (63_440, "63,440"), (1_000_000, "1,000,000"), (-1_234, "-1,234"),
        (Int.min, "-9,223,372,036,854,775,808"),
    ])
    func `commas separate groups of three digits`(number: Int, text: String) {
        #expect(number.grouped == text)
    }
}
