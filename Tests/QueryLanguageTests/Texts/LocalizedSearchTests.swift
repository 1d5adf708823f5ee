import Foundation
import QueryLanguage
import TestSupport
import Testing

/// The search by bytes agrees with `localizedStandardContains(_:)`.
@Suite struct LocalizedSearchTests {
    private func expectAgreement(_ text: String, _ part: String) {
        var utf8 = text
        let isFound = utf8.withUTF8 { LocalizedSearch(part).isFound(in: UnsafeRawBufferPointer($0)) }
        #expect(isFound == text.localizedStandardContains(part), "\(text.debugDescription), \(part.debugDescription)")
    }

    @Test func `all pairs of ASCII characters`() {
        let characters = (0..<128).map { String(Unicode.Scalar(UInt8($0))) }
        for first in characters {
            for second in characters {
                expectAgreement("x\(first)y", second)
                expectAgreement("x\(first)y", "X\(second)")
                expectAgreement(first + second, first)
                expectAgreement(first + second, second)
                expectAgreement(first, first + second)
            }
        }
    }

    @Test func `random texts with and without other characters`() {
        var generator = SeededGenerator()
        let alphabet = [
            "a", "A", "b", "B", "i", "I", "k", "K", "s", "S", " ", "é", "\u{301}", "ß", "ı", "İ", "ſ", "\r", "\n",
        ]
        for count in [6, 12, alphabet.count] {
            for _ in 0..<2000 {
                let length = Int.random(in: 0...12, using: &generator)
                let text = (0..<length).map { _ in alphabet[..<count].randomElement(using: &generator)! }.joined()
                let partLength = Int.random(in: 0...3, using: &generator)
                let part = (0..<partLength).map { _ in alphabet[..<count].randomElement(using: &generator)! }.joined()
                expectAgreement(text, part)
            }
        }
    }
}
