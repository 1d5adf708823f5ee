import SwiftDiagnostics
import Testing

@Suite("The places of @Attribute, @Relationship, @Transient, #Index and #Unique")
struct AnnotationTests {
    @Test func `annotations expand to nothing`() {
        expect(
            """
            @Model final class Trip {
                #Index<Trip>([\\.name])
                #Unique<Trip>([\\.name])
                @Attribute(.unique) var name: String
                @Relationship var owner: Owner?
                @Transient var cache = 0
                @Transient var hint: String?
                @Transient static var shared: Int
            }
            """,
            expandsTo: """
                @Model final class Trip {
                    var name: String
                    var owner: Owner?
                    var cache = 0
                    var hint: String?
                    static var shared: Int
                }
                """,
            with: Specs.annotations
        )
    }

    @Test(arguments: ["Attribute", "Relationship"])
    func `an annotation of a computed property is a warning`(name: String) {
        let source = "@Model final class Trip { @\(name) var name: Int { 1 } }"
        expect(
            source,
            isRefusedWith: ["'@\(name)' has no effect on a computed property, which isn't persisted; remove it"],
            leadsTo: "@Model final class Trip { var name: Int { 1 } }",
            with: Specs.annotations
        )
        #expect(Refusal(of: source, with: Specs.annotations).severities == [.warning])
    }

    @Test(arguments: ["Attribute", "Relationship"])
    func `a static property can't be annotated`(name: String) {
        expect(
            "@Model final class Trip { @\(name) static var name = 1 }",
            isRefusedWith: ["'@\(name)' can't be applied to a static property, which isn't persisted; remove it"],
            leadsTo: "@Model final class Trip { static var name = 1 }",
            with: Specs.annotations
        )
    }

    @Test func `a property with observers can be annotated`() {
        expect(
            "@Model final class Trip { @Attribute var name = 1 { didSet {} } }",
            isRefusedWith: [],
            with: Specs.annotations
        )
    }

    @Test func `a transient property can't be an attribute`() {
        expect(
            "@Model final class Trip { @Transient @Attribute var name = 1 }",
            isRefusedWith: [
                "'@Attribute' can't be applied to a @Transient property, which isn't persisted; remove one of them"
            ],
            leadsTo: "@Model final class Trip { @Transient var name = 1 }",
            with: Specs.annotations
        )
    }

    @Test func `a method can't be annotated`() {
        expect(
            "@Model final class Trip { @Attribute func name() {} }",
            isRefusedWith: ["'@Attribute' can only be applied to a property"],
            with: Specs.annotations
        )
    }

    @Test func `an annotation outside a model is refused`() {
        expect(
            "final class Trip { @Attribute var name = 1 }",
            isRefusedWith: [
                "'@Attribute' is only valid in a class with @Model; add @Model to the class or remove it"
            ],
            leadsTo: "final class Trip { var name = 1 }",
            with: Specs.annotations
        )
    }

    @Test func `an index outside a model is refused`() {
        expect(
            "final class Trip { #Index<Trip>([\\.name]) }",
            isRefusedWith: ["'#Index' is only valid in the body of a class with @Model"],
            with: Specs.annotations
        )
    }

    @Test(arguments: ["Index", "Unique"])
    func `an empty list of properties is refused`(name: String) {
        expect(
            "@Model final class Trip { #\(name)<Trip>([\\.name], []) }",
            isRefusedWith: ["'#\(name)' needs at least one property in each list; remove the empty list"],
            with: Specs.annotations
        )
    }

    @Test(arguments: ["var cache: Int", "let cache: Int", "let cache: Int?"])
    func `a transient property without a value is refused`(property: String) {
        expect(
            "@Model final class Trip { @Transient \(property); init() {} }",
            isRefusedWith: ["@Transient requires non-optional property 'cache' to have a default value"],
            with: Specs.annotations
        )
    }
}
