import QueryLanguage
import Testing

@Suite struct ValueOrderingTests {
    @Test func `NaN, which an object has until it is saved, precedes all numbers`() {
        let ordered: [Value] = [
            .null, .real(.nan), .real(-.infinity), .integer(.min), .real(-1), .integer(0), .real(0.5), .real(.infinity),
        ]
        for (index, value) in ordered.enumerated() {
            for (other, otherValue) in ordered.enumerated() {
                let precedes = QuerySort(.variable(0)).precedes(value, otherValue)
                #expect(precedes == (index == other ? nil : index < other), "\(value), \(otherValue)")
            }
        }
    }
}
