/// The slots that determine which objects belong to a result, and in which order.
struct ResultDependencies {
    /// The ``Entity/index`` of the root of the fetched entity.
    let rootIndex: Int
    /// Whether the result excludes unsaved changes.
    private let isOfSavedState: Bool
    /// The slots of the fetched objects themselves.
    private(set) var own = SlotSet()
    /// The slots of objects that the request reads along relationships, by the index of their root entity.
    private(set) var related: [Int: SlotSet] = [:]
    /// The root entities of destinations whose deletion or return changes a to-one relationship of a fetched object
    /// without a change of that object, by ``Entity/index``.
    private var destinations: Set<Int> = []

    /// The slots by the index of their root entity, for every root entity that the request reads.
    var slots: [Int: SlotSet] {
        var slots = related
        for destination in destinations { slots[destination, default: SlotSet()].formUnion(SlotSet()) }
        slots[rootIndex, default: SlotSet()].formUnion(own)
        return slots
    }

    init(_ request: FetchRequest) {
        rootIndex = request.entity.rootIndex
        isOfSavedState = !request.includesPendingChanges
        for expression in request.sort.map(\.expression) + (request.predicate.map { [$0] } ?? []) {
            add(expression, [request.entity])
        }
        if request.search != nil { addAll(of: request.entity) }
    }

    /// The dependencies of a request whose condition is unknown: all slots of all objects of the model.
    init(onEverythingIn model: ManagedObjectModel, of request: FetchRequest) {
        rootIndex = request.entity.rootIndex
        isOfSavedState = !request.includesPendingChanges
        addAll(of: request.entity)
        for other in model.entities { related[other.rootIndex, default: SlotSet()].formUnion(SlotSet(allOf: other)) }
    }

    /// Whether changes concern objects that the request reads along relationships.
    func areRelatedObjectsConcerned(by changes: ContextChanges) -> Bool {
        related.contains { rootIndex, slots in
            guard let root = changes.roots[rootIndex] else { return false }
            return root.concernsExistence || root.isUnknown || concern(root, slots)
        }
    }

    /// Whether changes concern slots of the fetched objects themselves.
    func concern(_ root: ContextChanges.Root) -> Bool { concern(root, own) }

    private func concern(_ root: ContextChanges.Root, _ slots: SlotSet) -> Bool {
        !root.slots.isDisjoint(with: slots) || isOfSavedState && !root.savedSlots.isDisjoint(with: slots)
    }

    /// Whether destinations of to-one relationships that the request reads may have been deleted or may have returned.
    func areDestinationsConcerned(by changes: ContextChanges) -> Bool {
        destinations.contains { destination in
            changes.roots[destination].map { $0.concernsReferences || $0.isUnknown } ?? false
        }
    }

    private mutating func addAll(of entity: Entity) {
        for member in entity.family { own.formUnion(SlotSet(allOf: member)) }
    }

    /// Adds the slots that an expression reads.
    ///
    /// - Parameter variables: The entities of the bound variables; nil for an element of a composite value.
    private mutating func add(_ expression: QueryExpression, _ variables: [Entity?]) {
        switch expression {
        case .path(let variable, let path), .isKind(let variable, let path, _):
            _ = follow(path, from: variable, variables)
        case .quantified(_, let source, _, let condition):
            add(condition, variables + [members(of: source, variables)])
        case .aggregated(_, let source, _, let value, let condition):
            let variables = variables + [members(of: source, variables)]
            add(value, variables)
            add(condition, variables)
        default:
            for operand in expression.operands { add(operand, variables) }
        }
    }

    /// Adds the slots of a collection, and returns the entity of its members.
    private mutating func members(of source: CollectionSource, _ variables: [Entity?]) -> Entity? {
        switch source {
        case .members(let variable, let path): return follow(path, from: variable, variables)
        case .elements(let whole, _):
            add(whole, variables)
            return nil
        }
    }

    /// Adds the slots of a path, and returns the entity at its end.
    private mutating func follow(_ path: [Property], from variable: Int, _ variables: [Entity?]) -> Entity? {
        guard variable < variables.count, var entity = variables[variable] else { return nil }
        for (index, property) in path.enumerated() {
            if variable == 0, index == 0 {
                own.insert(property.slot)
            } else {
                related[entity.rootIndex, default: SlotSet()].insert(property.slot)
            }
            guard case .relationship(let relationship) = property else { continue }
            entity = relationship.destination
            // The value of a to-one relationship at the end of a path is a key in the row of the source. A deletion of
            // the destination clears the key only if the inverse has the rule `nullify` and contains the source. If the
            // members of the destination were read before another context has added the source, they do not contain it.
            guard relationship.isToMany || index < path.count - 1 else {
                destinations.insert(entity.rootIndex)
                continue
            }
            related[entity.rootIndex, default: SlotSet()].formUnion(SlotSet())
            if let inverse = relationship.inverse { related[entity.rootIndex]?.insert(inverse.slot) }
        }
        return entity
    }
}
