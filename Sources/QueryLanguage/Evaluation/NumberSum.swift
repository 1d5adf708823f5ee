/// The sum of integers and floating-point numbers, rounded as SQLite's `sum` and `avg` round it since version 3.43.
///
/// Integers are added exactly. Floating-point numbers are added with the compensation of Kahan, Babuška and Neumaier
/// (Neumaier: Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, 1974), so that the sum of 1e16, 1
/// and -1e16 is 1 in any order.
struct NumberSum {
    private var integerSum: Int64 = 0
    /// Whether ``realSum`` and ``compensation`` add up to the sum.
    private var isReal = false
    /// Whether a sum of integers alone has overflowed.
    private var hasOverflown = false
    private var realSum = 0.0
    private var compensation = 0.0
    private(set) var count = 0

    mutating func add(_ integer: Int64) {
        count += 1
        if isReal { return addRounded(integer) }
        let (sum, overflow) = integerSum.addingReportingOverflow(integer)
        guard overflow else { return integerSum = sum }
        hasOverflown = true
        becomeReal()
        addRounded(integer)
    }

    mutating func add(_ real: Double) {
        count += 1
        becomeReal()
        hasOverflown = false
        addCompensated(real)
    }

    private mutating func becomeReal() {
        guard !isReal else { return }
        isReal = true
        addRounded(integerSum)
    }

    /// Adds an integer that a double may not represent, in two parts.
    private mutating func addRounded(_ integer: Int64) {
        guard integer.magnitude >= 1 << 52 else { return addCompensated(Double(integer)) }
        let small = integer % 16384
        addCompensated(Double(integer - small))
        addCompensated(Double(small))
    }

    private mutating func addCompensated(_ real: Double) {
        let sum = realSum + real
        compensation += realSum.magnitude > real.magnitude ? (realSum - sum) + real : (real - sum) + realSum
        realSum = sum
    }

    private var compensatedSum: Double { compensation.isFinite ? realSum + compensation : realSum }

    /// The sum.
    ///
    /// - Throws: ``QueryError/arithmeticOverflow`` if a sum of integers is not an `Int64`.
    var sum: Value {
        get throws(QueryError) {
            if hasOverflown { throw .arithmeticOverflow }
            return isReal ? .real(compensatedSum) : .integer(integerSum)
        }
    }

    /// The sum divided by the number of values.
    var average: Double { (isReal ? compensatedSum : Double(integerSum)) / Double(count) }
}
