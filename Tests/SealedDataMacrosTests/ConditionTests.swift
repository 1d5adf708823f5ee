import SwiftIfConfig
import Testing

@Suite("Attributes and table rules inside #if")
struct ConditionTests {
    private let linux = StaticBuildConfiguration(
        customConditions: ["RENAMED"],
        targetOSs: ["Linux"],
        languageVersion: VersionTuple(6),
        compilerVersion: VersionTuple(6, 3)
    )

    private func expansion(of source: String) -> Refusal {
        Refusal(of: source, with: Specs.model, in: linux)
    }

    @Test func `attributes of the active clause are used`() {
        let refusal = expansion(
            of: """
                @Model final class Trip {
                    #if RENAMED
                        #if os(Linux)
                            @Attribute(originalName: "title")
                        #endif
                    #endif
                    var name = ""
                    #if os(macOS)
                        @Relationship(deleteRule: .deny)
                    #else
                        @Relationship(deleteRule: .cascade)
                    #endif
                    var stops: [Stop] = []
                    #if os(Linux)
                        @Transient
                    #endif
                    var cache = 0
                    #if os(Linux)
                        @Attribute(.ephemeral)
                    #endif
                    var isOpen = false
                    #if os(Linux)
                        @Attribute(.transformable(by: Coder.self))
                    #endif
                    var color = Color()
                    init() {}
                }
                """
        )
        #expect(refusal.messages == [])
        #expect(refusal.expansion.contains("SealedData.Schema.Attribute(originalName: \"title\")"))
        #expect(refusal.expansion.contains("SealedData.Schema.Relationship(deleteRule: .cascade)"))
        #expect(!refusal.expansion.contains("name: \"cache\""))
        #expect(refusal.expansion.contains("@SealedData._EphemeralProperty"))
        #expect(refusal.expansion.contains("by: SealedData._AttributeTransformer(Coder.self)"))
    }

    @Test func `attributes of other clauses are not used`() {
        let refusal = expansion(
            of: """
                @Model final class Trip {
                    #if os(macOS)
                        @Attribute(.unique)
                    #elseif os(Windows)
                        @Transient
                    #endif
                    var name = ""
                    init() {}
                }
                """
        )
        #expect(refusal.messages == [])
        #expect(refusal.expansion.contains("keypath: \\Trip.name"))
        #expect(!refusal.expansion.contains("SealedData.Schema.Attribute(.unique)"))
    }

    @Test(arguments: ["SealedData", "Foundation", "Observation"])
    func `the modules that come with the macros can be imported`(module: String) {
        let refusal = expansion(
            of: """
                @Model final class Trip {
                    #if canImport(\(module)) || canImport(SwiftData)
                        #Unique<Trip>([\\.name])
                        var name = ""
                    #endif
                    #if !canImport(\(module))
                        @Transient
                    #endif
                    var note = ""
                    init() {}
                }
                """
        )
        #expect(refusal.messages == [])
        #expect(refusal.expansion.contains("SealedData.Schema.Unique<Trip>([\\.name])"))
        #expect(refusal.expansion.contains("keypath: \\Trip.name"))
        #expect(refusal.expansion.contains("keypath: \\Trip.note"))
    }

    @Test(arguments: ["Attribute(.unique)", "Relationship", "Transient"])
    func `an attribute inside a condition of unknown value is refused`(attribute: String) {
        let name = attribute.prefix { $0 != "(" }
        let source = """
            @Model final class Trip {
                #if canImport(UIKit)
                    @\(attribute)
                #endif
                var name = Stop()
                init() {}
            }
            """
        let message =
            "'@\(name)' can't be inside this '#if', because @Model can't evaluate its condition; use a condition that is "
            + "defined with '-D', or move '@\(name)' out of '#if'"
        #expect(expansion(of: source).messages == [message])
        // A compiler that does not pass the conditions of the build.
        #expect(Refusal(of: source, with: Specs.model).messages == [message])
    }

    @Test func `an attribute of another package inside a condition of unknown value is accepted`() {
        let refusal = expansion(
            of: """
                @Model final class Trip {
                    #if canImport(UIKit)
                        @objc
                    #endif
                    var name = ""
                    init() {}
                }
                """
        )
        #expect(refusal.messages == [])
    }

    @Test(arguments: ["Index", "Unique"])
    func `a table rule inside a condition of unknown value is refused`(rule: String) {
        let refusal = expansion(
            of: """
                @Model final class Trip {
                    #if canImport(UIKit)
                        #\(rule)<Trip>([\\.name])
                    #endif
                    var name = ""
                    init() {}
                }
                """
        )
        #expect(
            refusal.messages == [
                "'#\(rule)' can't be inside this '#if', because @Model can't evaluate its condition; use a condition that "
                    + "is defined with '-D', or move '#\(rule)' out of '#if'"
            ]
        )
    }

    @Test func `annotations in a class whose @Model is inside #if are accepted`() {
        let refusal = Refusal(
            of: """
                #if canImport(SealedData)
                    @Model
                #endif
                final class Trip {
                    #Unique<Trip>([\\.name])
                    @Attribute var name = ""
                }
                """,
            with: Specs.annotations
        )
        #expect(refusal.messages == [])
    }

    @Test func `the availability of a class inside #if applies to its conformances`() {
        let refusal = expansion(
            of: """
                #if os(Linux)
                    @available(*, deprecated)
                #endif
                @Model final class Trip {
                    var name = ""
                    init() {}
                }
                """
        )
        #expect(
            refusal.expansion.contains(
                "@available(*, deprecated)\nextension Trip: nonisolated SealedData.PersistentModel {"
            )
        )
    }

    @Test func `a property wrapper inside #if is refused`() {
        let refusal = expansion(
            of: """
                @Model final class Trip {
                    #if os(Linux)
                        @Published
                    #endif
                    var name = ""
                    init() {}
                }
                """
        )
        #expect(refusal.messages.count == 1)
        #expect(refusal.messages.first?.contains("the property wrapper '@Published'") == true)
    }
}
