// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Evaluates views as SwiftUI does: it keeps their state, passes the environment to them, and updates their properties.
///
/// State belongs to the position at which a view creates it, so a view creates the same properties each time.
public struct ViewHost {
    // `nonisolated(unsafe)` is sound because hosts are used on the main actor only.
    nonisolated(unsafe) static var environment = EnvironmentValues()
    nonisolated(unsafe) public static var transaction: Transaction?
    nonisolated(unsafe) private static var states: [Any] = []
    nonisolated(unsafe) private static var position: Int?

    private var states: [Any] = []
    public var environment = EnvironmentValues()

    public init() {}

    /// The state at the current position.
    static func state<Box>(_ make: () -> Box) -> Box {
        guard let index = position else { return make() }
        position = index + 1
        if index < states.count, let known = states[index] as? Box { return known }
        let new = make()
        states.append(new)
        return new
    }

    /// Evaluates a view or a scene, which `make` makes with the state of the previous evaluation.
    @MainActor
    public mutating func show<V: View>(_ make: () -> V) { evaluating { Self.evaluate(make()) } }

    /// Evaluates a scene.
    @MainActor
    public mutating func show<S: Scene>(scene make: () -> S) { evaluating { Self.evaluate(scene: make()) } }

    @MainActor
    private mutating func evaluating(_ body: () -> Void) {
        (Self.states, Self.position, Self.environment) = (states, 0, environment)
        body()
        states = Self.states
        (Self.states, Self.position, Self.environment) = ([], nil, EnvironmentValues())
    }

    @MainActor
    static func evaluate<V: View>(_ view: V) {
        if let content = view as? ModifiedContent { return content.evaluate() }
        update(view)
        guard V.Body.self != Never.self else { return }
        changing(view) { evaluate(view.body) }
    }

    @MainActor
    private static func evaluate<S: Scene>(scene: S) {
        update(scene)
        if let window = scene as? any WindowContent { return window.evaluateContent() }
        changing(scene) { evaluate(scene: scene.body) }
    }

    private static func update(_ container: Any) {
        for child in Mirror(reflecting: container).children {
            guard var property = child.value as? any DynamicProperty else { continue }
            update(property)
            property.update()
        }
    }

    private static func changing(_ container: Any, _ body: () -> Void) {
        let outer = environment
        defer { environment = outer }
        let change = Mirror(reflecting: container).descendant("change") as? EnvironmentChange
        change?.body(&environment)
        body()
    }
}

/// A change of the environment by a view or scene.
///
/// `@unchecked Sendable`: hosts call the closure on the main actor only.
struct EnvironmentChange: @unchecked Sendable {
    let body: (inout EnvironmentValues) -> Void

    init(_ body: @escaping (inout EnvironmentValues) -> Void) { self.body = body }
}

@MainActor
private protocol WindowContent {
    func evaluateContent()
}

extension WindowGroup: WindowContent {
    func evaluateContent() { ViewHost.evaluate(content()) }
}
