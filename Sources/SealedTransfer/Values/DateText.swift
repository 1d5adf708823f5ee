import Foundation

/// The ISO 8601 form of dates, in UTC, with as many decimals as the date has.
///
/// Dates are stored as seconds since 2001. The text has the digits of the shortest decimal number that reads as the
/// same seconds, so that the text is read as the same date, bit for bit.
package enum DateText {
    private static let secondsPerDay: Int64 = 86_400
    /// The days of the years 1 to 9999, which have four digits.
    private static let days: ClosedRange<Int64> = -730_485...2_921_573

    /// The text of a date; nil for a date outside the years 1 to 9999, and for a date whose seconds have no decimal
    /// form without an exponent.
    package static func text(secondsSince2001 seconds: Double) -> String? {
        guard seconds.isFinite else { return nil }
        var digits = "\(seconds.magnitude)"
        guard !digits.contains("e") else { return nil }
        if digits.hasSuffix(".0") { digits.removeLast(2) }
        let parts = digits.split(separator: ".", maxSplits: 1)
        guard var whole = parts.first.flatMap({ Int64($0) }) else { return nil }
        var fraction = parts.count > 1 ? Array(parts[1].utf8) : []
        if seconds.sign == .minus {
            // Minus zero is not zero in its bits.
            guard seconds != 0 else { return nil }
            whole = -whole
            if !fraction.isEmpty {
                whole -= 1
                fraction = complement(fraction)
            }
        }
        let day = floorDivide(whole, secondsPerDay)
        guard days.contains(day) else { return nil }
        let second = whole - day * secondsPerDay
        let (year, month, dayOfMonth) = civil(day)
        var text = padded(year, 4) + "-" + padded(month, 2) + "-" + padded(dayOfMonth, 2) + "T"
        text += padded(second / 3600, 2) + ":" + padded(second / 60 % 60, 2) + ":" + padded(second % 60, 2)
        if !fraction.isEmpty { text += "." + String(decoding: fraction, as: UTF8.self) }
        return text + "Z"
    }

    /// The seconds since 2001 of a text in ISO 8601: a date, `T` or a space, a time with optional decimals of the
    /// second, and `Z` or an offset such as `+01:00`. Returns nil for any other text.
    static func seconds(_ text: some StringProtocol) -> Double? {
        let bytes = Array(text.utf8)
        var position = 0
        func number(_ count: Int) -> Int64? {
            guard position + count <= bytes.count else { return nil }
            var value: Int64 = 0
            for byte in bytes[position..<(position + count)] {
                guard byte >= 48, byte <= 57 else { return nil }
                value = value * 10 + Int64(byte - 48)
            }
            position += count
            return value
        }
        func take(_ characters: String) -> Bool {
            guard position < bytes.count, characters.utf8.contains(bytes[position]) else { return false }
            position += 1
            return true
        }
        guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2), take("T "),
            let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        var fraction: [UInt8] = []
        if take(".") || take(",") {
            while position < bytes.count, bytes[position] >= 48, bytes[position] <= 57 {
                fraction.append(bytes[position])
                position += 1
            }
            guard !fraction.isEmpty, fraction.count <= 400 else { return nil }
        }
        var offset: Int64 = 0
        if !take("Z") {
            let isNegative = position < bytes.count && bytes[position] == UInt8(ascii: "-")
            guard take("+-"), let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60 else {
                return nil
            }
            offset = (hours * 3600 + minutes * 60) * (isNegative ? -1 : 1)
        }
        let days = days(year, month, day)
        guard position == bytes.count, civil(days) == (year, month, day) else { return nil }
        let whole = days * secondsPerDay + hour * 3600 + minute * 60 + second - offset
        return double(whole, fraction)
    }

    /// The number with a whole part and decimals behind it.
    private static func double(_ whole: Int64, _ fraction: [UInt8]) -> Double? {
        guard !fraction.isEmpty else { return Double(whole) }
        guard whole < 0 else { return Double("\(whole)." + String(decoding: fraction, as: UTF8.self)) }
        guard fraction.contains(where: { $0 != 48 }) else { return Double(whole) }
        return Double("-\(-whole - 1)." + String(decoding: complement(fraction), as: UTF8.self))
    }

    /// The decimals of 1 − 0.`digits`, for digits that are not all zero.
    private static func complement(_ digits: [UInt8]) -> [UInt8] {
        var digits = digits
        while digits.last == 48 { digits.removeLast() }
        guard let last = digits.indices.last else { return [] }
        return digits.indices.map { (index: Int) in
            UInt8(48) + (index == last ? 10 : 9) - (digits[index] - 48)
        }
    }

    // MARK: The calendar

    // The algorithms are from Howard Hinnant, "chrono-compatible low-level date algorithms".

    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivide(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 730_791
    }

    private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 730_791
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthIndex + 2) / 5 + 1)
    }

    private static func floorDivide(_ dividend: Int64, _ divisor: Int64) -> Int64 {
        dividend >= 0 ? dividend / divisor : -((-dividend + divisor - 1) / divisor)
    }

    private static func padded(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
