import ObjectGraph

/// A model of two classes with one relationship of a kind, whose worlds ``ExchangeExplorer`` explores.
struct ExploredModel: CustomStringConvertible, Sendable {
    /// The kind of the relationship between albums and photos.
    enum Kind: String, CaseIterable, Sendable {
        /// An album has a cover, and a photo is the cover of one album.
        case oneToOne
        /// An album has photos, and a photo has an album.
        case oneToMany
        /// An album has photos in an order, and a photo has an album.
        case orderedOneToMany
        /// An album has photos, and a photo has albums.
        case manyToMany
        /// An album has photos in an order, and a photo has albums in an order.
        case orderedManyToMany
        /// A photo has an album, which does not lead back.
        case toOne
        /// An album has photos, which do not lead back.
        case toMany
        /// An album has front and back photos, and a photo has one album for both.
        case sharedInverse
        /// An album has albums that have it.
        case symmetric
        /// An album has a partner that has it.
        case partner
    }

    let kind: Kind
    /// The delete rule of the album's relationship.
    var rule = RelationshipDescription.DeleteRule.nullify
    /// The delete rule of the photo's relationship.
    var inverseRule = RelationshipDescription.DeleteRule.nullify
    /// Whether a photo must have an album.
    var isRequired = false
    /// Whether albums have a code that is unique.
    var isUnique = false
    /// Whether change sets contain the side of the photo.
    var isMirrored = false

    var description: String {
        let rules = "\(rule)/\(inverseRule)"
        let traits = [isRequired ? "required" : nil, isUnique ? "unique" : nil, isMirrored ? "mirrored" : nil]
        return ([kind.rawValue, rules] + traits.compactMap(\.self)).joined(separator: " ")
    }

    /// The name of the entity of albums.
    var album: String { isMirrored ? "Zalbum" : "Album" }
    let photo = "Photo"

    /// Whether the relationship leads from albums to albums.
    var isReflexive: Bool { kind == .symmetric || kind == .partner }

    /// The to-many or to-one relationship of an album.
    let relationship = "photos"

    var declarations: [EntityDescription] {
        var albums = EntityDescription(album, attributes: [.init("name", .string)])
        if isUnique {
            albums.attributes.append(.init("code", .string, isOptional: true))
            albums.uniquenessConstraints = [["code"]]
        }
        var photos = EntityDescription(photo, attributes: [.init("name", .string)])
        typealias Cardinality = RelationshipDescription.Cardinality
        func there(_ cardinality: Cardinality, ordered: Bool = false, inverse: String? = "album") {
            albums.relationships.append(
                .init(
                    relationship,
                    to: isReflexive ? album : photo,
                    cardinality,
                    inverse: inverse,
                    deleteRule: rule,
                    isOrdered: ordered
                )
            )
        }
        func back(_ cardinality: Cardinality, ordered: Bool = false, inverse: String? = "photos") {
            photos.relationships.append(
                .init(
                    "album",
                    to: album,
                    cardinality,
                    inverse: inverse,
                    deleteRule: inverseRule,
                    isOptional: !isRequired,
                    isOrdered: ordered
                )
            )
        }
        switch kind {
        case .oneToOne:
            there(.one)
            back(.one)
        case .oneToMany, .orderedOneToMany:
            there(.many, ordered: kind == .orderedOneToMany)
            back(.one)
        case .manyToMany, .orderedManyToMany:
            there(.many, ordered: kind == .orderedManyToMany)
            back(.many, ordered: kind == .orderedManyToMany)
        case .toOne: back(.one, inverse: nil)
        case .toMany: there(.many, inverse: nil)
        case .sharedInverse:
            for name in [relationship, "others"] {
                albums.relationships.append(
                    .init(name, to: photo, .many, sharedInverse: "album", deleteRule: rule)
                )
            }
            back(.one, inverse: nil)
        case .symmetric: there(.many, inverse: relationship)
        case .partner: there(.one, inverse: relationship)
        }
        return [albums, photos]
    }

    /// Each kind with each rule that it can have.
    static var all: [ExploredModel] {
        var models: [ExploredModel] = []
        for kind in Kind.allCases {
            let rules: [RelationshipDescription.DeleteRule] = kind == .toOne ? [.nullify] : [.nullify, .cascade, .deny]
            for rule in rules {
                models.append(ExploredModel(kind: kind, rule: rule))
                switch kind {
                case .oneToOne, .manyToMany, .orderedManyToMany:
                    models.append(ExploredModel(kind: kind, rule: rule, isMirrored: true))
                case .oneToMany, .orderedOneToMany, .toOne:
                    models.append(ExploredModel(kind: kind, rule: rule, isRequired: true))
                default: continue
                }
                if kind == .oneToOne { models.append(ExploredModel(kind: kind, rule: rule, isRequired: true)) }
                if kind == .manyToMany { models.append(ExploredModel(kind: kind, rule: rule, isUnique: true)) }
            }
        }
        models.append(ExploredModel(kind: .manyToMany, rule: .cascade, inverseRule: .cascade))
        models.append(ExploredModel(kind: .manyToMany, rule: .deny, inverseRule: .cascade))
        models.append(ExploredModel(kind: .oneToOne, rule: .cascade, inverseRule: .deny))
        models.append(ExploredModel(kind: .oneToOne, rule: .cascade, isRequired: true, isMirrored: true))
        models.append(ExploredModel(kind: .oneToMany, rule: .cascade, isRequired: true, isUnique: true))
        models.append(ExploredModel(kind: .oneToMany, rule: .nullify, isUnique: true))
        models.append(ExploredModel(kind: .oneToOne, rule: .nullify, isUnique: true))
        return models
    }
}
