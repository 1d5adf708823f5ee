public import Foundation
import ObjectGraph

#if canImport(Darwin)
    /// An order of texts: the order of Unicode scalars, or an order that follows the user's language.
    ///
    /// Foundation's initializers of `SortDescriptor` take it. Without an argument they use `localizedStandard`.
    public typealias LocalizedTextComparator = String.StandardComparator
#else
    /// An order of texts that follows the user's language.
    ///
    /// On Apple's platforms these are values of `String.StandardComparator`, of which Foundation has only `lexical` on
    /// other platforms.
    public struct LocalizedTextComparator: Hashable, Sendable {
        private let order: TextOrder

        /// The order of displayed lists: case and diacritics decide only between otherwise equal texts, and digits are
        /// compared as numbers.
        public static let localizedStandard = Self(order: .localizedStandard)
        /// The order of the user's language.
        public static let localized = Self(order: .localized)

        private init(order: TextOrder) {
            self.order = order
        }

        /// The order of texts.
        var textOrder: TextOrder? { order }
    }

    extension SortDescriptor {
        /// Creates a sort by a text in an order that follows the user's language.
        ///
        /// ```swift
        /// SortDescriptor(\Trip.name, comparator: .localizedStandard)
        /// ```
        ///
        /// - Parameters:
        ///   - keyPath: The text.
        ///   - comparator: The order.
        ///   - order: The direction.
        public init(
            _ keyPath: any KeyPath<Compared, String> & Sendable,
            comparator: LocalizedTextComparator,
            order: SortOrder = .forward
        ) {
            switch comparator.textOrder {
            case .localized: self.init(appending(\.localizedRank, to: keyPath), order: order)
            default: self.init(appending(\.localizedStandardRank, to: keyPath), order: order)
            }
        }

        /// Creates a sort by a text in an order that follows the user's language; nil is the smallest value.
        ///
        /// - Parameters:
        ///   - keyPath: The text.
        ///   - comparator: The order.
        ///   - order: The direction.
        public init(
            _ keyPath: any KeyPath<Compared, String?> & Sendable,
            comparator: LocalizedTextComparator,
            order: SortOrder = .forward
        ) {
            switch comparator.textOrder {
            case .localized: self.init(appending(\.localizedRank, to: keyPath), order: order)
            default: self.init(appending(\.localizedStandardRank, to: keyPath), order: order)
            }
        }
    }
#endif

/// A key path that appends `next` to the key path.
func appending<Root, Value, Next>(
    _ next: any KeyPath<Value, Next> & Sendable,
    to keyPath: any KeyPath<Root, Value> & Sendable
) -> any KeyPath<Root, Next> & Sendable {
    // The concatenation of two Sendable key paths is Sendable, which the compiler does not infer.
    let path: AnyKeyPath = keyPath.appending(path: next)
    return path as! any KeyPath<Root, Next> & Sendable
}

/// A text that is compared in the user's language.
struct LocalizedText: Comparable {
    let text: String
    let order: TextOrder

    static func == (left: LocalizedText, right: LocalizedText) -> Bool {
        left.order.compare(left.text, right.text) == 0
    }

    static func < (left: LocalizedText, right: LocalizedText) -> Bool { left.order.compare(left.text, right.text) < 0 }
}

extension String {
    /// The text, compared in the order `localizedStandard`.
    var localizedStandardRank: LocalizedText { LocalizedText(text: self, order: .localizedStandard) }
    /// The text, compared in the order `localized`.
    var localizedRank: LocalizedText { LocalizedText(text: self, order: .localized) }
}

extension String? {
    /// The text, compared in the order `localizedStandard`.
    var localizedStandardRank: LocalizedText? { map(\.localizedStandardRank) }
    /// The text, compared in the order `localized`.
    var localizedRank: LocalizedText? { map(\.localizedRank) }
}
