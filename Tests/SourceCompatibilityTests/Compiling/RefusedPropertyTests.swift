import SealedData
import Testing

@Suite("Properties that the compiler refuses")
struct RefusedPropertyTests {
    @Test(arguments: Compiler.LanguageMode.allCases)
    func `a property whose type cannot be stored is one error, at the property`(mode: Compiler.LanguageMode) throws {
        let source = """
            import SealedData

            struct Opaque {}

            @Model final class Trip {
                var name = ""
                var opaque: Opaque
                var maybe: Opaque?
                var list: [Opaque] = []
                var initial = Opaque()
                init(opaque: Opaque) { self.opaque = opaque }
            }

            @Model class Base {
                var text = ""
                init() {}
            }

            @Model class Leaf: Base {
                var inherited: Opaque = Opaque()
                var table: [String: Opaque] = [:]
            }
            """
        let errors = try Compiler.diagnostics(of: source, mode: mode)
        #expect(errors.map(\.line).sorted() == [7, 8, 9, 10, 20, 21], "\(errors)")
        for error in errors {
            #expect(error.message.contains("make the type Codable, or mark the property @Transient"))
        }
    }

    @Test func `a constant whose type cannot be stored is one error`() throws {
        let source = """
            import SealedData

            struct Opaque {}

            @Model final class Trip {
                let opaque: Opaque
                init(opaque: Opaque) { self.opaque = opaque }
            }
            """
        let errors = try Compiler.diagnostics(of: source)
        #expect(errors.count == 1, "\(errors)")
        #expect(errors.first?.message.contains("make the type Codable, or mark the property @Transient") == true)
    }

    /// The compiler's own rule for accessors on constants.
    @Test func `a constant with an initial value is a warning in the Swift 5 mode and an error in the Swift 6 mode`()
        throws
    {
        let source = """
            import SealedData

            @Model final class Trip {
                let id = UUID().uuidString
                var name = ""
                init() {}
            }
            """
        let warnings = try Compiler.diagnostics(of: source, mode: .swift5)
        #expect(warnings.allSatisfy { $0.severity == "warning" && $0.line == 4 }, "\(warnings)")
        let errors = try Compiler.diagnostics(of: source, mode: .swift6)
        #expect(errors.map(\.line) == [4], "\(errors)")
        #expect(errors.first?.message.contains("declare it as 'private(set) var'") == true)
    }

    @Test func `a well-known property wrapper is refused with an explanation`() throws {
        let source = """
            import SealedData

            @Model final class Trip {
                @Published var name = ""
                init() {}
            }
            """
        let messages = try Compiler.diagnostics(of: source).map(\.message)
        #expect(messages.contains { $0.contains("the property wrapper '@Published' can't be used") }, "\(messages)")
    }
}
