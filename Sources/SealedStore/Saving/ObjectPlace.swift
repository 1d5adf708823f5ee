import ObjectGraph

/// The place of an object in a store.
struct ObjectPlace: Hashable, Comparable, Sendable {
    /// The `Entity.index` of the root entity.
    let rootIndex: Int
    let key: Int64

    static func < (left: ObjectPlace, right: ObjectPlace) -> Bool {
        (left.rootIndex, left.key) < (right.rootIndex, right.key)
    }
}

extension ObjectPlace {
    init(_ id: ManagedObjectID) {
        self.init(rootIndex: id.entity.rootIndex, key: id.key)
    }
}
