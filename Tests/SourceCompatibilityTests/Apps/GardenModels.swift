// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
import SealedData

// In the style of Apple's sample apps.

@Model public class Yard {
    @Attribute(.unique) public var id: String
    public var name: String
    public var created: Date
    public var isFavorite = false

    @Relationship(inverse: \Plant.yard)
    public var leading: [Plant] = []

    @Relationship(inverse: \Plant.yard)
    public var trailing: [Plant] = []

    public var events: [VisitorEvent] = []
    @Attribute(.ephemeral) public var isPresented = false
    @Transient public var lastDraw: Date? = nil

    public var next: VisitorEvent? { events.first { $0.start > .now } }

    public init(name: String) {
        self.id = UUID().uuidString
        self.name = name
        self.created = .now
    }
}

@Model public final class Plant: Titled {
    @Attribute(.unique) public var code: String
    public var yard: Yard?
    @_TransformablePersistedProperty public var picture: Data = Data()
    @PrimaryKey var number = 0
    @Coded("kind_name") var kind: Kind = Kind.shrub

    public enum Kind: String, Codable, CaseIterable {
        case tree, shrub, herb
    }

    public init(code: String, kind: Kind = .shrub) {
        self.code = code
        self.kind = kind
    }

    var title: String { code }
}

extension Plant {
    convenience init(copying other: Plant) {
        self.init(code: other.code + "'", kind: other.kind)
        _$backingData.setValue(forKey: \.number, to: other.number + 1)
    }

    static var trees: Predicate<Plant> {
        let tree = Kind.tree
        return #Predicate { $0.kind == tree }
    }
}

@Model public final class VisitorEvent {
    public var start: Date
    public var length: TimeInterval
    public var yard: Yard?

    public init(start: Date, length: TimeInterval, yard: Yard? = nil) {
        self.start = start
        self.length = length
        self.yard = yard
    }

    public var range: Range<Date> { start..<start.addingTimeInterval(length) }
}
