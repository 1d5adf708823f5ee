import Foundation
import Testing

@Suite("The expansion of @Model for inheritance")
struct InheritanceExpansionTests {
    @Test func `a subclass`() {
        expect(
            """
            @available(iOS 26, *)
            @Model public class Leaf: Base {
                var name: String
                let code: Int
                var count = 0
                override var inherited: Int { didSet {} }
                init(name: String) { self.name = name; code = 1; super.init() }
            }
            """,
            expandsTo: """
                @available(iOS 26, *)
                public class Leaf: Base {
                    @SealedData._PersistedProperty(offset: 0) @SealedData._InitializedProperty(offset: 0)
                    var name: String
                    let code: Int
                    @SealedData._PersistedProperty(offset: 2) @SealedData._InitializedProperty(offset: 2)
                    var count = 0
                    override var inherited: Int { didSet {} }
                    init(name: String) { self.name = name; code = 1; super.init() }

                    @safe nonisolated(unsafe) private var _$initial_Leaf = SealedData._AddedValues(Leaf.self) {
                        (_$state: inout SealedData._AddedValues) in
                        let _$2 = 0
                        Leaf._$initialize(&_$state, Leaf._$firstSlot_Leaf + 2, to: _$2)
                    }

                    nonisolated private static var _$superclass_Leaf: Swift.AnyClass {
                        super._$stateClass
                    }

                    nonisolated private static var _$firstSlot_Leaf: Swift.Int {
                        super._$slotCount
                    }

                    @inlinable nonisolated override public class var _$slotCount: Swift.Int {
                        super._$slotCount + 3
                    }

                    nonisolated override public class var _$stateClass: Swift.AnyClass {
                        Leaf.self
                    }

                    private static func _$ownMetadata_Leaf() -> [SealedData.Schema.PropertyMetadata] {
                        [
                            SealedData.Schema.PropertyMetadata(
                                name: "name",
                                keypath: \\Leaf.name,
                                defaultValue: nil,
                                metadata: nil
                            ),
                            SealedData.Schema.PropertyMetadata(
                                name: "code",
                                keypath: \\Leaf.code,
                                defaultValue: nil,
                                metadata: nil
                            ),
                            SealedData.Schema.PropertyMetadata(
                                name: "count",
                                keypath: \\Leaf.count,
                                defaultValue: 0,
                                metadata: nil
                            )
                        ]
                    }

                    nonisolated override public class var schemaMetadata: [SealedData.Schema.PropertyMetadata] {
                        SealedData._unisolated(_$ownMetadata_Leaf)
                    }

                    private static func _$ownKeyPaths_Leaf<_$Model: Leaf>(
                        _: _$Model.Type
                    ) -> [Swift.AnyKeyPath] {
                        [\\_$Model.name, \\_$Model.code, \\_$Model.count]
                    }

                    nonisolated override public class func _$keyPaths(
                        from _$type: any SealedData.PersistentModel.Type
                    ) -> [Swift.AnyKeyPath] {
                        func _$own<_$Model: Leaf>(_ _$model: _$Model.Type) -> [Swift.AnyKeyPath] {
                            SealedData._unisolated(_$ownKeyPaths_Leaf, _$model)
                        }
                        return (_$type as? any (Leaf & SealedData.PersistentModel).Type).map {
                            Swift._openExistential($0, do: _$own)
                        } ?? []
                    }

                    nonisolated override public func _$completeState() {
                        super._$completeState()
                        _$state.take(&_$initial_Leaf)
                        Leaf._$initialize(&_$state, Leaf._$firstSlot_Leaf + 1, to: self.code)
                    }

                    nonisolated required public init(_materializing: SealedData._Materialization) {
                        _$p_name = SealedData._NoStorage()
                        self.code = _materializing._$value(at: Leaf._$firstSlot_Leaf + 1)
                        super.init(_materializing: _materializing.passed(to: Leaf._$superclass_Leaf))
                    }
                }
                """,
            with: Specs.modelSubclass
        )
    }

    @Test func `a subclass without initializers inherits them`() {
        expect(
            """
            @Model final class Leaf: Base {
            }
            """,
            expandsTo: """
                final class Leaf: Base {

                    @safe nonisolated(unsafe) private var _$initial_Leaf = SealedData._AddedValues(Leaf.self, superclass: Leaf._$superclass_Leaf) {
                        _ in

                    }

                    nonisolated private static var _$superclass_Leaf: Swift.AnyClass {
                        super._$stateClass
                    }

                    nonisolated private static var _$firstSlot_Leaf: Swift.Int {
                        super._$slotCount
                    }

                    nonisolated override class var _$slotCount: Swift.Int {
                        super._$slotCount + 0
                    }

                    nonisolated override class var _$stateClass: Swift.AnyClass {
                        Leaf.self
                    }

                    private static func _$ownMetadata_Leaf() -> [SealedData.Schema.PropertyMetadata] {
                        [

                        ]
                    }

                    nonisolated override class var schemaMetadata: [SealedData.Schema.PropertyMetadata] {
                        SealedData._unisolated(_$ownMetadata_Leaf)
                    }

                    nonisolated override func _$completeState() {
                        super._$completeState()
                        _$state.take(&_$initial_Leaf)
                    }
                }
                """,
            with: Specs.modelSubclass
        )
    }

    @Test func `a class with an unknown supertype keeps the state in a stored property`() {
        expect(
            """
            @Model final class Trip: Travelling {
                var name = ""
            }
            """,
            expandsTo: """
                final class Trip: Travelling {
                    @SealedData._PersistedProperty(offset: 0) @SealedData._InitializedProperty(offset: 0)
                    var name = ""

                    @safe @exclusivity(unchecked) nonisolated(unsafe) private var _$initial_Trip = SealedData._ObjectState(Trip.self)

                    nonisolated var _$state: SealedData._ObjectState {
                        _read {
                            yield _$initial_Trip
                        }
                        _modify {
                            yield &_$initial_Trip
                        }
                    }

                    @safe nonisolated var _$address: Swift.UnsafeMutablePointer<SealedData._ObjectState> {
                        unsafe Swift.withUnsafeMutablePointer(to: &_$initial_Trip) {
                            unsafe $0
                        }
                    }

                    nonisolated private static var _$firstSlot_Trip: Swift.Int {
                        0
                    }

                    nonisolated static var _$slotCount: Swift.Int {
                        1
                    }

                    nonisolated static func _$applyDefaults(to _$state: inout SealedData._ObjectState) {
                        let _$0 = ""
                        Trip._$initialize(&_$state, Trip._$firstSlot_Trip + 0, to: _$0)
                    }

                    private static func _$ownMetadata_Trip() -> [SealedData.Schema.PropertyMetadata] {
                        [
                            SealedData.Schema.PropertyMetadata(
                                name: "name",
                                keypath: \\Trip.name,
                                defaultValue: "",
                                metadata: nil
                            )
                        ]
                    }

                    nonisolated static var schemaMetadata: [SealedData.Schema.PropertyMetadata] {
                        SealedData._unisolated(_$ownMetadata_Trip)
                    }

                    private static func _$initialized() -> Trip {
                        Trip()
                    }

                    nonisolated convenience init(_materializing: SealedData._Materialization) {
                        self.init(_$replacedBy: SealedData._unisolated(Trip._$initialized))
                    }
                }

                extension Trip: nonisolated SealedData.PersistentModel {
                }

                @available(*, unavailable, message: "A model belongs to its context. Pass its persistentModelID to the other isolation domain and fetch it there, for example in a ModelActor.")
                extension Trip: Swift.Sendable {
                }
                """,
            with: Specs.model
        )
    }

    @Test func `an open class can be inherited from in other modules`() {
        let expansion = Refusal(of: "@Model open class Base { public init() {} }", with: Specs.model).expansion
        for member in [
            "@inlinable nonisolated open class var _$slotCount", "open class var _$stateClass",
            "open class var schemaMetadata",
            "open class func _$keyPaths", "open func _$completeState()", "required public init(_materializing",
            "final public var _$state",
        ] {
            #expect(expansion.contains(member))
        }
    }

    @Test(
        arguments: [
            ("@Model class Base<Value: Codable>", false),
            ("@Model class Base<Value: Codable>: Identifiable, Swift.Codable", false),
            ("@Model class Base<Value: Codable>: Identifiable, Named", true),
            ("@MainActor @Model class Base<Value: Codable>", true),
            ("@Model class Base", true),
        ]
    )
    func `a generic class refers to its functions only if it may be isolated`(declaration: String, refers: Bool) {
        let source = "\(declaration) { var value: Int; init(_ value: Int) {} }"
        let expansion = Refusal(of: source, with: Specs.model).expansion
        #expect(expansion.contains("_unisolated") == refers)
    }

    @Test(
        arguments: [
            ("@Model class Base<Value: Codable>: Named", 2),
            ("@Model final class Base<Value: Codable>: Named", 2),
            ("@OtherActor @Model class Base<Value: Codable>: Named", 0),
            ("@Model class Base: Named", 0),
        ]
    )
    func `functions of a generic class with an unknown isolation are on the main actor`(
        declaration: String,
        count: Int
    ) {
        let expansion = Refusal(of: "\(declaration) { var value = 1 }", with: Specs.model).expansion
        #expect(expansion.components(separatedBy: "@_Concurrency.MainActor private static func").count == count + 1)
    }

    @Test func `the slots of a subclass follow those of the superclass`() {
        expect(
            """
            final class Leaf: Base {
                @_PersistedProperty(offset: 2) @_InitializedProperty(offset: 2) var name: String
            }
            """,
            expandsTo: """
                final class Leaf: Base {
                    var name: String {
                        get {
                            _$value(at: Leaf._$firstSlot_Leaf + 2)
                        }
                        set {
                            _$setValue(newValue, at: Leaf._$firstSlot_Leaf + 2)
                        }
                        @storageRestrictions(accesses: _$initial_Leaf, initializes: _$p_name)
                        init(initialValue) {
                            Leaf._$initialize(&_$initial_Leaf, Leaf._$firstSlot_Leaf + 2, to: initialValue)
                            _$p_name = SealedData._NoStorage()
                        }
                    }

                    private var _$p_name: SealedData._NoStorage
                }
                """,
            with: Specs.properties
        )
    }
}
