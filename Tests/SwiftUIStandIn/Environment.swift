// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import SealedData

// The declarations of SwiftUI that `SealedDataSwiftUI` uses, with their shapes, and enough behaviour for its tests.
// They exist on systems without SwiftUI only.

/// A key of an environment value.
public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}

/// The environment of a view.
public struct EnvironmentValues {
    private var values: [ObjectIdentifier: Any] = [:]

    public init() {}

    public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
        get { values[ObjectIdentifier(key)] as? K.Value ?? K.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }

    private struct UndoManagerKey: EnvironmentKey {
        static var defaultValue: UndoManager? { nil }
    }

    public var undoManager: UndoManager? {
        get { self[UndoManagerKey.self] }
        // Read-only in SwiftUI; hosts set it.
        set { self[UndoManagerKey.self] = newValue }
    }
}

/// A value of the environment of the view that is being updated.
@propertyWrapper
public struct Environment<Value>: DynamicProperty {
    private final class Box {
        var values: EnvironmentValues?
    }

    private let keyPath: KeyPath<EnvironmentValues, Value>
    private let box = Box()

    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }

    public var wrappedValue: Value { (box.values ?? ViewHost.environment)[keyPath: keyPath] }

    public mutating func update() { box.values = ViewHost.environment }
}

/// A property that a view host updates before it evaluates the view.
public protocol DynamicProperty {
    mutating func update()
}

extension DynamicProperty {
    public mutating func update() {}
}

/// A value that lives as long as the view.
@propertyWrapper
public struct State<Value>: DynamicProperty {
    private final class Box {
        var value: Value

        init(_ value: Value) { self.value = value }
    }

    private let box: Box

    public init(wrappedValue: Value) { box = ViewHost.state { Box(wrappedValue) } }

    public var wrappedValue: Value {
        get { box.value }
        nonmutating set { box.value = newValue }
    }
}
