import Testing

@Suite("Properties that @Model refuses")
struct PropertyRefusalTests {
    @Test func `a weak property is refused and can become a plain one`() {
        expect(
            """
            @Model final class Trip {
                private weak var owner: Owner?
            }
            """,
            isRefusedWith: [
                "a persisted property can't be 'weak'; models never keep each other alive, so the modifier isn't needed"
            ],
            leadsTo: """
                @Model final class Trip {
                    private var owner: Owner?
                }
                """,
            with: Specs.model
        )
    }

    @Test func `an unowned property is refused`() {
        expect(
            "@Model final class Trip { unowned(unsafe) var owner: Owner; init(o: Owner) { owner = o } }",
            isRefusedWith: [
                "a persisted property can't be 'unowned'; models never keep each other alive, so the modifier isn't "
                    + "needed"
            ],
            with: Specs.model
        )
    }

    @Test(arguments: ["Published", "AppStorage(\"name\")", "SwiftUI.State"])
    func `a well-known property wrapper is refused`(wrapper: String) {
        let name = wrapper.prefix { $0 != "(" }
        expect(
            "@Model final class Trip { @\(wrapper) var name = \"x\" }",
            isRefusedWith: [
                "the property wrapper '@\(name)' can't be used on a persisted property; mark the property @Transient and "
                    + "persist the wrapped value in another one, or use 'didSet'"
            ],
            leadsTo: "@Model final class Trip { @Transient @\(wrapper) var name = \"x\" }",
            with: Specs.model
        )
    }

    @Test func `attributes of other packages are ignored`() {
        expect(
            """
            @Model final class Trip {
                @PrimaryKey var a = 1
                @Coded("b", as: Int.self) @Other.Flag var b = 1
            }
            """,
            isRefusedWith: [],
            with: Specs.model
        )
    }

    @Test func `an ephemeral property needs a default value`() {
        expect(
            "@Model final class Trip { @_EphemeralProperty var name: String }",
            isRefusedWith: ["@Attribute(.ephemeral) requires non-optional property 'name' to have a default value"],
            with: Specs.properties
        )
    }

    @Test func `attributes that change no storage are accepted`() {
        expect(
            """
            @Model final class Trip {
                @available(*, deprecated) var a = 1
                @objc var b = 1
                @Attribute(.unique) var c = 1
                @SealedData.Relationship var d: Trip?
            }
            """,
            isRefusedWith: [],
            with: Specs.model
        )
    }

    @Test func `a lazy property must be transient`() {
        expect(
            """
            @Model final class Trip {
                // The sum.
                lazy var sum: Int = 1 + 2
                @Transient lazy var product: Int = 1 * 2
            }
            """,
            isRefusedWith: [
                "a lazy property isn't persisted; mark it @Transient, or remove 'lazy' to persist it"
            ],
            leadsTo: """
                @Model final class Trip {
                    // The sum.
                    @Transient lazy var sum: Int = 1 + 2
                    @Transient lazy var product: Int = 1 * 2
                }
                """,
            with: Specs.model
        )
    }

    @Test(arguments: [("Colour", true), ("Colour?", false)])
    func `a constant with a value transformer must be optional`(type: String, isRefused: Bool) {
        let property = "@Attribute(.transformable(by: T.self)) let a: \(type)"
        expect(
            "@Model final class Trip { \(property); init() { a = make() } }",
            isRefusedWith: isRefused
                ? [
                    "'a' is a constant with a value transformer and has no value if the transformer does not restore it; "
                        + "declare it as 'private(set) var', or mark it @Transient"
                ] : [],
            with: Specs.model
        )
    }

    @Test(arguments: ["(Int, Int)?", "[any Shape]"])
    func `a value transformer stores values of any type`(type: String) {
        expect(
            "@Model final class Trip { @Attribute(.transformable(by: T.self)) var a: \(type); init() { a = make() } }",
            isRefusedWith: [],
            with: Specs.model
        )
    }

    @Test(
        arguments: [
            (
                "(Int, Int)?",
                "a tuple can't be stored; declare a struct that is Codable, or mark the property @Transient"
            ),
            (
                "[(x: Int, y: Int)]",
                "a tuple can't be stored; declare a struct that is Codable, or mark the property @Transient"
            ),
            ("(() -> Void)?", "a function can't be stored; mark the property @Transient"),
            ("@Sendable (Int) -> Int", "a function can't be stored; mark the property @Transient"),
            (
                "[String: any Shape]",
                "a value of an unknown type can't be read again; use an enum or struct that is Codable, or mark the "
                    + "property @Transient"
            ),
            ("Shape.Type", "a type can't be stored; keep a name for it, or mark the property @Transient"),
        ]
    )
    func `a type without storable values is refused`(type: String, message: String) {
        expect(
            "@Model final class Trip { var a: \(type); init() { a = make() } }",
            isRefusedWith: [message],
            with: Specs.model
        )
    }

    @Test func `a constant with an initial value can't be restored`() {
        expect(
            "@Model final class Trip { let id = UUID() }",
            isRefusedWith: [
                "'id' is a constant with an initial value and can't take the value from the store; declare it as "
                    + "'private(set) var', or mark it @Transient"
            ],
            leadsTo: "@Model final class Trip { private(set) var id = UUID() }",
            with: Specs.model
        )
    }

    @Test func `a property is an attribute or a relationship`() {
        expect(
            "@Model final class Trip { @Attribute @Relationship var owner: Owner? }",
            isRefusedWith: [
                "'owner' can't be an attribute and a relationship; remove one of @Attribute and @Relationship"
            ],
            with: Specs.model
        )
    }

    @Test func `an observer that refers to its property needs a written type`() {
        expect(
            """
            @Model final class Trip {
                var count = start() { didSet { count = max(count, 0) } }
                var other = start() { didSet { print(oldValue) } }
                var typed: Int = start() { didSet { typed = max(typed, 0) } }
                var literal = 3 { didSet { literal = max(literal, 0) } }
            }
            """,
            isRefusedWith: ["the observer refers to 'count', whose type isn't written; add a type annotation"],
            with: Specs.model
        )
    }

    @Test(arguments: ["self", "Type"]) func `a name without a key path is refused`(name: String) {
        expect(
            "@Model final class Trip { var `\(name)` = 1 }",
            isRefusedWith: [
                "a persisted property can't be named '\(name)', because Swift has no key path to it; rename the property"
            ],
            with: Specs.model
        )
    }

    @Test(arguments: ["UUID", "[Data]", "String?", "[[Int]]", "[String: Trip]"])
    func `a relationship to a value is refused`(type: String) {
        expect(
            "@Model final class Trip { @Relationship var other: \(type); init(_ value: \(type)) { other = value } }",
            isRefusedWith: ["@Relationship needs a model or an array of models, not '\(type)'; remove it"],
            with: Specs.model
        )
    }

    @Test(arguments: ["Unit", "[Stop]", "App.Date", "Set<Stop>?"])
    func `a relationship to a type that may be a model is accepted`(type: String) {
        expect(
            "@Model final class Trip { @Relationship var other: \(type); init(_ value: \(type)) { other = value } }",
            isRefusedWith: [],
            with: Specs.model
        )
    }
}
