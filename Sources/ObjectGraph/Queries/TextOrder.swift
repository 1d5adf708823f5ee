import Foundation

/// An order of texts.
public enum TextOrder: String, Codable, CaseIterable, Hashable, Sendable {
    /// Swift's own: by the scalars of Unicode, whatever form they are in.
    case lexical
    /// That of the user's language, for lists that people read: case and diacritics matter only where nothing else does, and
    /// digits count as numbers.
    case localizedStandard
    /// That of the user's language.
    case localized

    /// - Returns: a negative number, 0 or a positive number.
    package func compare(_ left: String, _ right: String) -> Int {
        switch self {
        case .lexical: left == right ? 0 : left < right ? -1 : 1
        case .localizedStandard: left.localizedStandardCompare(right).rawValue
        case .localized: left.localizedCompare(right).rawValue
        }
    }
}
