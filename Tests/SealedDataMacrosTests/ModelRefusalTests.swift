import SwiftSyntaxMacroExpansion
import Testing

@Suite("Classes that @Model refuses")
struct ModelRefusalTests {
    @Test func `a struct is refused and can become a class`() {
        expect(
            "@Model struct Trip { var name: String }",
            isRefusedWith: ["'@Model' cannot be applied to struct type 'Trip'; declare it as 'final class'"],
            leadsTo: "@Model final class Trip { var name: String }",
            with: Specs.model
        )
    }

    @Test func `an actor is refused and can become a class`() {
        expect(
            "@Model public actor Trip { var name = 1 }",
            isRefusedWith: ["'@Model' cannot be applied to actor type 'Trip'; declare it as 'final class'"],
            leadsTo: "@Model public final class Trip { var name = 1 }",
            with: Specs.model
        )
    }

    @Test func `an enum is refused`() {
        expect(
            "@Model enum Trip { case name }",
            isRefusedWith: ["'@Model' cannot be applied to enum type 'Trip'; declare it as 'final class'"],
            with: Specs.model
        )
    }

    @Test func `a class whose properties need values must have an initializer`() {
        expect(
            """
            @Model final class Trip {
                var name: String
                var note: String?
                var `class`: Int
            }
            """,
            isRefusedWith: ["@Model requires an initializer be provided for 'Trip'"],
            leadsTo: """
                @Model final class Trip {
                    var name: String
                    var note: String?
                    var `class`: Int

                    init(name: String, `class`: Int) {
                        self.name = name
                        self.`class` = `class`
                    }
                }
                """,
            with: Specs.model
        )
    }

    @Test func `several bindings in one declaration can be split`() {
        expect(
            """
            @Model final class Trip {
                var a = 1, b: Int? = 2
                private var x, y: Int, z = 3
                init() {}
            }
            """,
            isRefusedWith: [
                "persisted properties can't share one 'var'; give each its own declaration",
                "persisted properties can't share one 'var'; give each its own declaration",
            ],
            leadsTo: """
                @Model final class Trip {
                    var a = 1
                    var b: Int? = 2
                    private var x, y: Int, z = 3
                    init() {}
                }
                """,
            with: Specs.model
        )
    }

    @Test func `the split bindings keep the type that they shared`() {
        expect(
            """
            @Model final class Trip {
                private var x, y: Int, z = 3
                init() {}
            }
            """,
            isRefusedWith: ["persisted properties can't share one 'var'; give each its own declaration"],
            leadsTo: """
                @Model final class Trip {
                    private var x: Int
                    private var y: Int
                    private var z = 3
                    init() {}
                }
                """,
            with: Specs.model
        )
    }

    @Test func `a tuple pattern is refused`() {
        expect(
            "@Model final class Trip { var (a, b) = (1, 2) }",
            isRefusedWith: [
                "a persisted property can't be declared in a tuple pattern; give each property its own "
                    + "declaration, or mark this one @Transient"
            ],
            with: Specs.model
        )
    }

    @Test func `a property inside a compilation condition of unknown value is refused`() {
        expect(
            """
            @Model final class Trip {
                #if DEBUG
                var name = "x"
                @Transient var cache = 1
                #else
                var computed: Int { 1 }
                #endif
            }
            """,
            isRefusedWith: [
                "a persisted property can't be inside this '#if', because the macro can't evaluate its condition; use "
                    + "a condition that is defined with '-D', move the property out of '#if', or mark it @Transient"
            ],
            with: Specs.model
        )
    }

    @Test func `a class that conforms to protocols is not taken for a subclass`() {
        expect("@Model final class Trip: Codable { var name = 1 }", isRefusedWith: [], with: Specs.model)
    }
}
