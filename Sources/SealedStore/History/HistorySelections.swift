import Guarded
import ObjectGraph

/// The columns that the recording of a history reads. Creating a selection costs as much as saving an object.
final class HistorySelections: Sendable {
    private struct Key: Hashable {
        let rootIndex: Int
        let properties: Set<Property>?
    }

    private let known = Guarded<[Key: EntitySelection]>([:])

    /// The columns of properties of a root entity and its subentities; nil for all properties. Large values are read at
    /// once, since they are about to change.
    func selection(of root: Entity, _ table: EntityTable, only properties: Set<Property>?) -> EntitySelection {
        let key = Key(rootIndex: root.index, properties: properties)
        return known.withLock { known in
            if let selection = known[key] { return selection }
            let selection = EntitySelection(root, table, only: properties, defersValues: false)
            known[key] = selection
            return selection
        }
    }
}
