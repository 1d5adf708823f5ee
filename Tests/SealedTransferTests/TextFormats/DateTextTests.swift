import Foundation
import TestSupport
import Testing

@testable import SealedTransfer

struct DateTextTests {
    @Test func `texts are those of ISO 8601`() {
        #expect(DateText.text(secondsSince2001: 0) == "2001-01-01T00:00:00Z")
        #expect(DateText.text(secondsSince2001: -0.25) == "2000-12-31T23:59:59.75Z")
        #expect(DateText.text(secondsSince2001: 86_399.5) == "2001-01-01T23:59:59.5Z")
        #expect(DateText.text(secondsSince2001: -978_307_200) == "1970-01-01T00:00:00Z")
        #expect(DateText.text(secondsSince2001: 252_423_993_599) == "9999-12-31T23:59:59Z")
        #expect(DateText.text(secondsSince2001: 252_423_993_600) == nil)
        #expect(DateText.text(secondsSince2001: .infinity) == nil)
        #expect(DateText.text(secondsSince2001: -0.0) == nil)
    }

    @Test func `each text is read as the same seconds`() {
        var generator = SeededGenerator()
        print(generator)
        for _ in 0..<20_000 {
            let exponent = Double.random(in: -3...11, using: &generator)
            let seconds = Double.random(in: -1...1, using: &generator) * pow(10, exponent)
            guard let text = DateText.text(secondsSince2001: seconds) else { continue }
            #expect(DateText.seconds(text)?.bitPattern == seconds.bitPattern, "\(seconds)")
        }
    }

    @Test func `texts of other programs are read`() {
        #expect(DateText.seconds("2001-01-01T01:00:00+01:00") == 0)
        #expect(DateText.seconds("2000-12-31 23:30:00.5-00:30") == 0.5)
        #expect(DateText.seconds("2024-02-29T00:00:00Z") == 730_857_600)
        for text in ["2023-02-29T00:00:00Z", "2001-1-1T00:00:00Z", "2001-01-01", "2001-01-01T24:00:00Z", "x", ""] {
            #expect(DateText.seconds(text) == nil, "\(text)")
        }
    }
}
