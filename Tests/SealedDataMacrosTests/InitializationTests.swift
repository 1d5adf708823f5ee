import Testing

@Suite("Assignments of persisted properties in initializers")
struct InitializationTests {
    @Test(
        arguments: [
            "final class Trip { var name: String }",
            "final class Trip { var name: String; var count = 0 { didSet {} }; var note: String? { willSet {} } }",
            "final class Trip { @Transient let cache = 1; static let shared: Int; let id = UUID() }",
            "final class Trip: Codable { var name: String }",
            "final class Trip: Swift.Hashable, Anything { var name: String }",
            "final class Trip: @unchecked Sendable { var name: String }",
        ]
    )
    func `setters assign if objects are complete from the start`(declaration: String) {
        #expect(!expansion(of: declaration).contains("_InitializedProperty"))
    }

    @Test(
        arguments: [
            "final class Trip { let id: UUID; var name: String }",
            "final class Trip { let id: UUID?; var name: String }",
            "final class Trip { var name: String; var count: Int { didSet {} } }",
            "final class Trip: Anything { var name: String }",
            "final class Trip: Other.Codable { var name: String }",
        ]
    )
    func `init accessors assign if objects may be incomplete`(declaration: String) {
        #expect(expansion(of: declaration).contains("_InitializedProperty"))
    }

    @Test(
        arguments: [
            "self.day = name.count",
            "if name.isEmpty { day = 1 } else { day = 2 }",
            "(day, other) = (1, 2)",
            "configure()",
            "self.configure()",
            "configure(self)",
            "self[keyPath: \\.day] = 1",
            "#fill",
            "other.count { self.day = $0 }",
        ]
    )
    func `an initializer that may assign everything is accepted`(statement: String) {
        expect(
            "@Model final class Trip { var day: Int; var note: String?; init(name: String) { \(statement) } }",
            isRefusedWith: [],
            with: Specs.model
        )
    }

    @Test(
        arguments: [
            "",
            "other.day = 1",
            "self.note = day.description",
            "note = Date(day).text()",
        ]
    )
    func `an initializer that forgets a property gets a warning`(statement: String) {
        expect(
            "@Model final class Trip { var day: Int; var note: String?; init?(from day: Int) { \(statement) } }",
            isRefusedWith: [
                "this initializer leaves 'day' without a value; assign it, or give its declaration an initial value"
            ],
            with: Specs.model
        )
    }

    @Test func `a convenience initializer need not assign the properties`() {
        expect(
            "@Model final class Trip { var a: Int; init(a: Int) { self.a = a }; convenience init() { self.init(a: 1) } }",
            isRefusedWith: [],
            with: Specs.model
        )
    }

    private func expansion(of declaration: String) -> String {
        Refusal(of: "@Model \(declaration)", with: Specs.model).expansion
    }
}
