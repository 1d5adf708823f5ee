import Foundation
import QueryLanguage
import TestSupport
import Testing

@Suite struct ModelTests {
    /// Relationships of an entity with itself.
    private static let people = ManagedObjectModel.valid(
        EntityDescription(
            "Person",
            relationships: [
                .init("spouse", to: "Person", .one, inverse: "spouse"),
                .init("mentor", to: "Person", .one, inverse: "pupils"),
                .init("pupils", to: "Person", .many, inverse: "mentor", isOrdered: true),
                .init("parents", to: "Person", .many, inverse: "children"),
                .init("children", to: "Person", .many, inverse: "parents", deleteRule: .cascade),
            ]
        )
    )

    /// An inheritance of three levels.
    private static let animals = ManagedObjectModel.valid(
        EntityDescription(
            "Animal",
            isAbstract: true,
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("keeper", to: "Keeper", .one, inverse: "animals")]
        ),
        EntityDescription(
            "Bird",
            superentity: "Animal",
            attributes: [.init("wingspan", .double)],
            relationships: [.init("nest", to: "Nest", .one)]
        ),
        EntityDescription("Penguin", superentity: "Bird", attributes: [.init("dives", .int64)]),
        EntityDescription("Cat", superentity: "Animal", attributes: [.init("lives", .int64)]),
        EntityDescription("Keeper", relationships: [.init("animals", to: "Animal", .many, inverse: "keeper")]),
        EntityDescription("Nest")
    )

    @Test func `every problem of a model is reported at once`() throws {
        let declarations = [
            EntityDescription(
                "A",
                attributes: [
                    .init("x", .int64), .init("x", .string), .init("big", .int64, allowsExternalStorage: true),
                    .init("", .bool),
                ],
                relationships: [
                    .init("lost", to: "Nowhere", .one),
                    .init("half", to: "B", .one, inverse: "missing"),
                    .init("one", to: "B", .one, inverse: "other"),
                    .init("order", to: "B", .one, isOrdered: true),
                    .init("counts", to: "B", .many, minimumCount: 3, maximumCount: 2),
                    .init("negative", to: "B", .many, minimumCount: -1),
                ],
                propertyOrder: ["x", "x", "unknown"],
                indexes: [.init([]), .init(["x", "x"]), .init(["nothing"])],
                uniquenessConstraints: [["counts"]]
            ),
            EntityDescription("B", relationships: [.init("other", to: "A", .one, inverse: "half")]),
            EntityDescription("B"),
            EntityDescription("C", superentity: "D"),
            EntityDescription("D", superentity: "C"),
            EntityDescription("E", superentity: "F"),
            EntityDescription("G", superentity: "B", attributes: [.init("other", .int64)]),
            EntityDescription(""),
        ]
        let error = #expect(throws: ModelError.self) { try ManagedObjectModel(entities: declarations) }
        let problems = (error?.problems ?? []).map { "\($0.entity).\($0.property ?? "")" }
        #expect(
            Set(problems) == [
                "A.x", "A.big", "A.", "A.lost", "A.half", "A.one", "A.order", "A.counts", "A.negative", "A.unknown",
                "A.nothing",
                "B.", "B.other", "C.", "D.", "E.", "G.other", ".",
            ],
            "the problems are \(error.map { "\($0)" } ?? "none")"
        )
    }

    @Test func `a model survives encoding and decoding`() throws {
        for model in [FormatFixtures.model, Self.people, Self.animals] {
            let copy = try JSONDecoder().decode(ManagedObjectModel.self, from: JSONEncoder().encode(model))
            #expect(copy.declarations == model.declarations)
            for (left, right) in zip(model.entities, copy.entities) {
                #expect(left.properties.map(\.name) == right.properties.map(\.name))
                #expect(left.superentity?.name == right.superentity?.name)
            }
            for (left, right) in zip(model.relationships, copy.relationships) {
                #expect(left.inverse?.name == right.inverse?.name)
                #expect(left.placement == right.placement)
            }
        }
    }

    @Test func `declarations are encoded without the values that are there by default`() throws {
        let declaration = EntityDescription(
            "A",
            attributes: [.init("x", .int64), .init("y", .string, isOptional: true)],
            relationships: [
                .init("one", to: "A", .one), .init("many", to: "A", .many, deleteRule: .cascade, isOrdered: true),
            ],
            propertyOrder: ["x", "y", "one", "many"]
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = try encoder.encode(declaration)
        #expect(
            String(decoding: json, as: UTF8.self)
                == #"{"attributes":[{"name":"x","type":"int64"},{"isOptional":true,"name":"y","type":"string"}],"name":"A","#
                + #""propertyOrder":[],"relationships":[{"cardinality":"one","destination":"A","name":"one"},"#
                + #"{"cardinality":"many","deleteRule":"cascade","destination":"A","isOrdered":true,"name":"many"}]}"#
        )
        #expect(try JSONDecoder().decode(EntityDescription.self, from: json) == declaration)
        var others = [declaration, declaration, declaration]
        others[0].propertyOrder = nil
        others[1].propertyOrder = ["many", "x", "one", "y"]
        others[2].relationships[0].isOptional = false
        for other in others {
            #expect(try JSONDecoder().decode(EntityDescription.self, from: encoder.encode(other)) == other)
        }
    }

    @Test func `decoding refuses an inconsistent model`() throws {
        let text =
            #"{"entities":[{"name":"A","superentity":"B","isAbstract":false,"attributes":[],"relationships":[],"indexes":[],"uniquenessConstraints":[]}]}"#
        #expect(throws: ModelError.self) { try JSONDecoder().decode(ManagedObjectModel.self, from: Data(text.utf8)) }
    }

    @Test func `properties are numbered with the inherited ones first`() {
        let penguin = Self.animals.entitiesByName["Penguin"]!
        #expect(penguin.properties.map(\.name) == ["name", "keeper", "wingspan", "nest", "dives"])
        #expect(penguin.properties.map(\.slot) == Array(0..<5))
        #expect(Self.animals.entitiesByName["Animal"]!.family.map(\.name) == ["Animal", "Bird", "Penguin", "Cat"])
    }

    @Test func `the order of properties can be declared`() throws {
        let model = ManagedObjectModel.valid(
            EntityDescription(
                "A",
                attributes: [.init("x", .int64), .init("y", .int64)],
                relationships: [.init("z", to: "A", .one)],
                propertyOrder: ["z", "y", "x"]
            )
        )
        #expect(model.entities[0].properties.map(\.name) == ["z", "y", "x"])
    }

    @Test func `an entity is usable without its model`() {
        func entity() -> Entity {
            ManagedObjectModel.valid(
                EntityDescription("A", relationships: [.init("b", to: "B", .one, inverse: "a")]),
                EntityDescription("B", relationships: [.init("a", to: "A", .one, inverse: "b")]),
                EntityDescription("C", superentity: "A")
            ).entitiesByName["C"]!
        }
        let lonely = entity()
        #expect(lonely.superentity?.name == "A")
        #expect(lonely.relationships[0].destination.name == "B")
        #expect(lonely.relationships[0].inverse?.destination.name == "A")
    }
}
