import ObjectGraph

/// A property whose value a change set contains. The values of the other properties follow from these.
struct ExchangedProperty: Sendable {
    /// The form of the value.
    enum Form: Sendable {
        /// The value of an attribute.
        case attribute(Attribute)
        /// The destination of a to-one relationship. Of two inverse to-one relationships, only the canonical side has
        /// this form.
        case reference(Relationship)
        /// The members in a join table, on its canonical side.
        case members(Relationship)
        /// The order of members that are stored elsewhere.
        case order(Relationship)
    }

    let property: Property
    let form: Form

    var slot: Int { property.slot }
    var name: String { property.name }

    /// The to-many relationship whose members the value lists; nil for another form.
    var list: Relationship? {
        switch form {
        case .members(let relationship), .order(let relationship): relationship
        case .attribute, .reference: nil
        }
    }

    /// Whether a change of the value follows from the change of another object, whose value it is, too: both objects of a pair
    /// of a many-to-many relationship that is its own inverse have each other.
    var isImplied: Bool { list.map { $0.inverse === $0 } ?? false }

    init?(_ property: Property) {
        self.property = property
        switch property {
        case .attribute(let attribute): form = .attribute(attribute)
        case .relationship(let relationship):
            switch relationship.placement {
            case .sourceKey:
                guard relationship.isCanonicalReference else { return nil }
                form = .reference(relationship)
            case .joinTable(isCanonical: true): form = .members(relationship)
            case .joinTable(isCanonical: false), .destinationKey:
                guard relationship.isOrdered else { return nil }
                form = .order(relationship)
            }
        }
    }
}

extension Relationship {
    /// Whether the inverse is a to-one relationship, too.
    var isOneToOne: Bool { !isToMany && inverse.map { !$0.isToMany } ?? false }

    /// Whether a to-one relationship is the side of a pair that a change set contains: both sides of a one-to-one
    /// relationship have the same content, and would be two conflicts.
    var isCanonicalReference: Bool {
        guard isOneToOne, let inverse else { return true }
        return (source.name, name) <= (inverse.source.name, inverse.name)
    }
}

/// The exchanged properties of a model's entities.
struct ExchangedProperties: Sendable {
    /// The properties of each entity by slot, at its `Entity.index`.
    private let bySlot: [[ExchangedProperty?]]
    /// The slots of each entity, at its `Entity.index`.
    private let slots: [SlotSet]
    /// The hash of the model in change sets.
    let modelHash: String

    init(_ model: ManagedObjectModel) {
        bySlot = model.entities.map { $0.properties.map(ExchangedProperty.init) }
        modelHash = model.exchangeHash
        slots = bySlot.map { SlotSet($0.compactMap { $0?.property }) }
    }

    func properties(of entity: Entity) -> [ExchangedProperty] { bySlot[entity.index].compactMap(\.self) }

    func property(at slot: Int, of entity: Entity) -> ExchangedProperty? { bySlot[entity.index][slot] }

    func slots(of entity: Entity) -> SlotSet { slots[entity.index] }
}
