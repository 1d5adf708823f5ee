public import Foundation

extension SortDescriptor {
    /// Creates a sort by a Boolean, false first.
    public init(_ keyPath: any KeyPath<Compared, Bool> & Sendable, order: SortOrder = .forward) {
        self.init(appending(\.sortRank, to: keyPath), order: order)
    }
}

extension Bool {
    /// The integer of a Boolean, by which it is sorted.
    var sortRank: Int { self ? 1 : 0 }
}
