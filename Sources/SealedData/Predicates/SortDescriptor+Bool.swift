public import Foundation

extension SortDescriptor {
    /// Sorts by a Boolean, false first.
    public init(_ keyPath: any KeyPath<Compared, Bool> & Sendable, order: SortOrder = .forward) {
        // Two key paths that are Sendable make one that is; the compiler does not know it.
        let rank = keyPath.appending(path: \.sortRank) as! any KeyPath<Compared, Int> & Sendable
        self.init(rank, order: order)
    }
}

extension Bool {
    /// What a Boolean is sorted by.
    var sortRank: Int { self ? 1 : 0 }
}
