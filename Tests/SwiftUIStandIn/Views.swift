// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// A part of a user interface.
@MainActor @preconcurrency
public protocol View {
    associatedtype Body: View
    var body: Body { get }
}

extension Never: View {
    public var body: Never { fatalError("a view without content was evaluated") }
}

/// A view that shows nothing.
public struct EmptyView: View {
    nonisolated public init() {}

    public var body: Never { fatalError("a view without content was evaluated") }
}

/// A view with a changed environment.
public struct EnvironmentView<Content: View>: View {
    let content: Content
    let change: EnvironmentChange

    public var body: Content { content }
}

/// A change of a view.
@MainActor @preconcurrency
public protocol ViewModifier {
    associatedtype Body: View
    typealias Content = ModifiedContent
    func body(content: Content) -> Body
}

/// The view that a modifier changes.
public struct ModifiedContent: View {
    let evaluate: @MainActor () -> Void

    public var body: Never { fatalError("a view without content was evaluated") }
}

/// A view with a modifier.
public struct ModifierView<Content: View, Modifier: ViewModifier>: View {
    let content: Content
    let modifier: Modifier

    public var body: Modifier.Body {
        modifier.body(content: ModifiedContent { [content] in ViewHost.evaluate(content) })
    }
}

extension View {
    public func environment<V>(
        _ keyPath: WritableKeyPath<EnvironmentValues, V>,
        _ value: V
    ) -> some View {
        EnvironmentView(content: self, change: EnvironmentChange { $0[keyPath: keyPath] = value })
    }

    public func modifier<M: ViewModifier>(_ modifier: M) -> ModifierView<Self, M> {
        ModifierView(content: self, modifier: modifier)
    }
}

/// A part of an app with views.
@MainActor @preconcurrency
public protocol Scene {
    associatedtype Body: Scene
    var body: Body { get }
}

extension Never: Scene {}

/// A scene with a view.
public struct WindowGroup<Content: View>: Scene {
    let content: () -> Content

    public init(content: @escaping () -> Content) { self.content = content }

    public var body: Never { fatalError("a scene without content was evaluated") }
}

/// A scene with a changed environment.
public struct EnvironmentScene<Content: Scene>: Scene {
    let content: Content
    let change: EnvironmentChange

    public var body: Content { content }
}

extension Scene {
    public func environment<V>(
        _ keyPath: WritableKeyPath<EnvironmentValues, V>,
        _ value: V
    ) -> some Scene {
        EnvironmentScene(content: self, change: EnvironmentChange { $0[keyPath: keyPath] = value })
    }
}

// MARK: Animations

public struct Animation: Hashable, Sendable {
    public static let `default` = Animation()
}

public struct Transaction {
    public var animation: Animation?

    public init(animation: Animation?) { self.animation = animation }
}

/// Runs a body whose changes have a transaction.
public func withTransaction<Result>(_ transaction: Transaction, _ body: () throws -> Result) rethrows -> Result {
    let outer = ViewHost.transaction
    ViewHost.transaction = transaction
    defer { ViewHost.transaction = outer }
    return try body()
}
