public import Foundation

extension SortDescriptor {
    /// Sorts by a Boolean, false first.
    public init(_ keyPath: any KeyPath<Compared, Bool> & Sendable, order: SortOrder = .forward) {
        self.init(appending(\.sortRank, to: keyPath), order: order)
    }
}

extension Bool {
    /// What a Boolean is sorted by.
    var sortRank: Int { self ? 1 : 0 }
}
