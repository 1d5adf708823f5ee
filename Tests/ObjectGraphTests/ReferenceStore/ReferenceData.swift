import Foundation
import ObjectGraph
import Guarded

/// The contents of a reference store: records by root entity and key, pairs and orders by relationship.
struct ReferenceData {
    struct Record {
        var entity: String
        var version: UInt32
        var values: [String: Value]
    }

    struct Pair: Hashable {
        var owner: Int64
        var member: Int64
    }

    var uuid = UUID()
    var lastKey: Int64 = 0
    var records: [String: [Int64: Record]] = [:]
    /// The pairs of many-to-many and one-way relationships, by the canonical side.
    var pairs: [String: Set<Pair>] = [:]
    /// The members of ordered relationships in their order, by owner.
    var orders: [String: [Int64: [Int64]]] = [:]
}

/// The data of reference stores by URL: a reopened store finds its data.
final class ReferenceBacking: Sendable {
    let data = Guarded(ReferenceData())

    private static let all = Guarded<[URL: ReferenceBacking]>([:])

    static func at(_ url: URL?) -> ReferenceBacking {
        guard let url else { return ReferenceBacking() }
        return all.withLock { all in
            if let known = all[url] { return known }
            let new = ReferenceBacking()
            all[url] = new
            return new
        }
    }

    static func removeAll(in folder: URL) {
        all.withLock { all in all = all.filter { !$0.key.path().hasPrefix(folder.path()) } }
    }
}

extension Relationship {
    /// The name under which the relationship's pairs or order are stored.
    var referenceName: String { "\(source.name).\(name)" }
}

extension Entity {
    /// The name of the topmost entity.
    var rootName: String {
        var root = self
        while let superentity = root.superentity { root = superentity }
        return root.name
    }
}
