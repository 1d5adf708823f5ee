import Testing

@Suite("The expansion of @Model")
struct ModelExpansionTests {
    @Test func `a full class`() {
        expect(
            """
            @Model final class Trip {
                #Index<Trip>([\\.name], [\\.name, \\.start])
                #Unique<Trip>([\\.code])
                var name: String
                var start: Date = .now // today
                @Attribute(.unique, originalName: "kode") let code: String
                @Relationship(deleteRule: .cascade, inverse: \\Item.trip) var items: [Item]? = []
                var count = 0
                @Transient var cache = 0
                static var shared = 1
                var computed: Int { 1 }
                init(name: String, code: String) { self.name = name; self.code = code }
            }
            """,
            expandsTo: """
                final class Trip {
                    #Index<Trip>([\\.name], [\\.name, \\.start])
                    #Unique<Trip>([\\.code])
                    @SealedData._PersistedProperty(slot: 0) @SealedData._InitializedProperty(slot: 0)
                    var name: String
                    @SealedData._PersistedProperty(slot: 1) @SealedData._InitializedProperty(slot: 1)
                    var start: Date = .now // today
                    @Attribute(.unique, originalName: "kode") let code: String
                    @Relationship(deleteRule: .cascade, inverse: \\Item.trip)
                    @SealedData._PersistedProperty(slot: 3) @SealedData._InitializedProperty(slot: 3) var items: [Item]? = []
                    @SealedData._PersistedProperty(slot: 4) @SealedData._InitializedProperty(slot: 4)
                    var count = 0
                    @Transient var cache = 0
                    static var shared = 1
                    var computed: Int { 1 }
                    init(name: String, code: String) { self.name = name; self.code = code }

                    @safe @exclusivity(unchecked) nonisolated(unsafe) var _$state = SealedData._ObjectState(Trip.self)

                    @safe nonisolated var _$address: Swift.UnsafeMutablePointer<SealedData._ObjectState> {
                        unsafe Swift.withUnsafeMutablePointer(to: &_$state) {
                            unsafe $0
                        }
                    }

                    nonisolated static var _$slotCount: Swift.Int {
                        5
                    }

                    nonisolated static func _$applyDefaults(to _$state: inout SealedData._ObjectState) {
                        let _$1: Date = .now
                        Trip._$initialize(&_$state, 1, to: _$1)
                        let _$3: [Item]? = []
                        Trip._$initialize(&_$state, 3, to: _$3)
                        let _$4 = 0
                        Trip._$initialize(&_$state, 4, to: _$4)
                    }

                    private static func _$ownMetadata_Trip() -> [SealedData.Schema.PropertyMetadata] {
                        [
                            SealedData.Schema.PropertyMetadata(
                                name: "name",
                                keypath: \\Trip.name,
                                defaultValue: nil,
                                metadata: nil
                            ),
                            SealedData.Schema.PropertyMetadata(
                                name: "start",
                                keypath: \\Trip.start,
                                defaultValue: (.now) as Date,
                                metadata: nil
                            ),
                            SealedData.Schema.PropertyMetadata(
                                name: "code",
                                keypath: \\Trip.code,
                                defaultValue: nil,
                                metadata: SealedData.Schema.Attribute(.unique, originalName: "kode")
                            ),
                            SealedData.Schema.PropertyMetadata(
                                name: "items",
                                keypath: \\Trip.items,
                                defaultValue: ([]) as [Item]?,
                                metadata: SealedData.Schema.Relationship(deleteRule: .cascade, inverse: \\Item.trip)
                            ),
                            SealedData.Schema.PropertyMetadata(
                                name: "count",
                                keypath: \\Trip.count,
                                defaultValue: 0,
                                metadata: nil
                            ),
                            SealedData.Schema.PropertyMetadata(
                                name: "SealedData.Schema.Index",
                                keypath: \\SealedData.Schema.encodingVersion,
                                defaultValue: nil,
                                metadata: SealedData.Schema.Index<Trip>([\\.name], [\\.name, \\.start])
                            ),
                            SealedData.Schema.PropertyMetadata(
                                name: "SealedData.Schema.Unique",
                                keypath: \\SealedData.Schema.encodingVersion,
                                defaultValue: nil,
                                metadata: SealedData.Schema.Unique<Trip>([\\.code])
                            )
                        ]
                    }

                    nonisolated static var schemaMetadata: [SealedData.Schema.PropertyMetadata] {
                        SealedData._unisolated(_$ownMetadata_Trip)
                    }

                    nonisolated func _$completeState() {
                        Trip._$initialize(&_$state, 2, to: self.code)
                    }

                    nonisolated init(_materializing: SealedData._Materialization) {
                        _$p_name = SealedData._NoStorage()
                        self.code = _materializing._$value(at: 2)
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

    @Test func `the arguments of a relationship are copied verbatim`() {
        let refusal = Refusal(
            of: """
                @Model final class Trip {
                    @Relationship(deleteRule: .cascade, inverse: nil) var oneWay: [Item]
                    @Relationship(deleteRule: .cascade) var inferred: [Item]
                    init() { oneWay = []; inferred = [] }
                }
                """,
            with: Specs.model
        )
        #expect(refusal.messages == [])
        #expect(refusal.expansion.contains("SealedData.Schema.Relationship(deleteRule: .cascade, inverse: nil)"))
        #expect(refusal.expansion.contains("SealedData.Schema.Relationship(deleteRule: .cascade)"))
    }

    @Test func `a public class that is not final and has no initializer`() {
        expect(
            """
            @Model public class Trip {
                public private(set) var note: String?
            }
            """,
            expandsTo: """
                public class Trip {
                    @SealedData._PersistedProperty(slot: 0)
                    public private(set) var note: String?

                    @safe @exclusivity(unchecked) nonisolated(unsafe) final public var _$state = SealedData._ObjectState(Trip.self)

                    @safe nonisolated final public var _$address: Swift.UnsafeMutablePointer<SealedData._ObjectState> {
                        unsafe Swift.withUnsafeMutablePointer(to: &_$state) {
                            unsafe $0
                        }
                    }

                    @inlinable nonisolated public class var _$slotCount: Swift.Int {
                        1
                    }

                    nonisolated public static func _$applyDefaults(to _$state: inout SealedData._ObjectState) {

                    }

                    private static func _$ownMetadata_Trip() -> [SealedData.Schema.PropertyMetadata] {
                        [
                            SealedData.Schema.PropertyMetadata(
                                name: "note",
                                keypath: \\Trip.note,
                                defaultValue: nil,
                                metadata: nil
                            )
                        ]
                    }

                    nonisolated public class var schemaMetadata: [SealedData.Schema.PropertyMetadata] {
                        SealedData._unisolated(_$ownMetadata_Trip)
                    }

                    nonisolated public class var _$stateClass: Swift.AnyClass {
                        Trip.self
                    }

                    private static func _$ownKeyPaths_Trip<_$Model: Trip>(
                        _: _$Model.Type
                    ) -> [Swift.AnyKeyPath] {
                        [\\_$Model.note]
                    }

                    nonisolated public class func _$keyPaths(
                        from _$type: any SealedData.PersistentModel.Type
                    ) -> [Swift.AnyKeyPath] {
                        func _$own<_$Model: Trip>(_ _$model: _$Model.Type) -> [Swift.AnyKeyPath] {
                            SealedData._unisolated(_$ownKeyPaths_Trip, _$model)
                        }
                        return (_$type as? any (Trip & SealedData.PersistentModel).Type).map {
                            Swift._openExistential($0, do: _$own)
                        } ?? []
                    }

                    nonisolated public func _$completeState() {

                    }

                    nonisolated required public init(_materializing: SealedData._Materialization) {
                        _materializing.verify(_$address)
                    }

                    init() {
                    }
                }

                extension Trip: nonisolated SealedData.PersistentModel {
                }

                extension Trip: nonisolated SealedData._InheritableModel {
                }

                @available(*, unavailable, message: "A model belongs to its context. Pass its persistentModelID to the other isolation domain and fetch it there, for example in a ModelActor.")
                extension Trip: Swift.Sendable {
                }
                """,
            with: Specs.model
        )
    }

    @Test func `a class in a public extension has public members`() {
        expect(
            """
            public extension Travel {
                @Model final class Trip {
                    init() {}
                }
            }
            """,
            expandsTo: """
                public extension Travel {
                    final class Trip {
                        init() {}

                        @safe @exclusivity(unchecked) nonisolated(unsafe) public var _$state = SealedData._ObjectState(Trip.self)

                        @safe nonisolated public var _$address: Swift.UnsafeMutablePointer<SealedData._ObjectState> {
                            unsafe Swift.withUnsafeMutablePointer(to: &_$state) {
                                unsafe $0
                            }
                        }

                        @inlinable nonisolated public static var _$slotCount: Swift.Int {
                            0
                        }

                        nonisolated public static func _$applyDefaults(to _$state: inout SealedData._ObjectState) {

                        }

                        private static func _$ownMetadata_Trip() -> [SealedData.Schema.PropertyMetadata] {
                            [

                            ]
                        }

                        nonisolated public static var schemaMetadata: [SealedData.Schema.PropertyMetadata] {
                            SealedData._unisolated(_$ownMetadata_Trip)
                        }

                        nonisolated public init(_materializing: SealedData._Materialization) {

                        }
                    }
                }

                extension Travel.Trip: nonisolated SealedData.PersistentModel {
                }

                @available(*, unavailable, message: "A model belongs to its context. Pass its persistentModelID to the other isolation domain and fetch it there, for example in a ModelActor.")
                extension Travel.Trip: Swift.Sendable {
                }
                """,
            with: Specs.model
        )
    }

    @Test func `the class's availability is the extension's too`() {
        expect(
            """
            @available(macOS 26, *)
            @Model final class Trip {
                init() {}
            }
            """,
            expandsTo: """
                @available(macOS 26, *)
                final class Trip {
                    init() {}

                    @safe @exclusivity(unchecked) nonisolated(unsafe) var _$state = SealedData._ObjectState(Trip.self)

                    @safe nonisolated var _$address: Swift.UnsafeMutablePointer<SealedData._ObjectState> {
                        unsafe Swift.withUnsafeMutablePointer(to: &_$state) {
                            unsafe $0
                        }
                    }

                    nonisolated static var _$slotCount: Swift.Int {
                        0
                    }

                    nonisolated static func _$applyDefaults(to _$state: inout SealedData._ObjectState) {

                    }

                    private static func _$ownMetadata_Trip() -> [SealedData.Schema.PropertyMetadata] {
                        [

                        ]
                    }

                    nonisolated static var schemaMetadata: [SealedData.Schema.PropertyMetadata] {
                        SealedData._unisolated(_$ownMetadata_Trip)
                    }

                    nonisolated init(_materializing: SealedData._Materialization) {

                    }
                }

                @available(macOS 26, *)
                extension Trip: nonisolated SealedData.PersistentModel {
                }

                @available(macOS 26, *)
                @available(*, unavailable, message: "A model belongs to its context. Pass its persistentModelID to the other isolation domain and fetch it there, for example in a ModelActor.")
                extension Trip: Swift.Sendable {
                }
                """,
            with: Specs.model
        )
    }

    @Test(
        arguments: [
            "static func == (left: Trip, right: Trip) -> Bool { true }",
            "public static func == (_: Trip, _: Trip) -> Bool { true }",
            "static func == (left: `Trip`, right: borrowing Trip) -> Bool { true }",
            "static func == (left: Plan.Trip, right: TestModule.Plan.Trip) -> Bool { true }",
            "static func == (left: Trip<Value>, right: Trip) -> Bool { true }",
            "static func == (_: Plan.Trip<Value>, _: Plan.Trip) -> Bool { true }",
        ],
        [("enum Plan", "class"), ("extension Plan", "class"), ("extension TestModule.Plan", "final class")]
    )
    func `the class's own equality satisfies Equatable`(declaration: String, place: (outer: String, kind: String)) {
        let source = "\(place.outer) { @Model \(place.kind) Trip<Value> { \(declaration) } }"
        let expansion = Refusal(of: source, with: Specs.model).expansion
        #expect(expansion.contains("@_implements(Swift.Equatable, ==(_:_:))"))
    }

    @Test func `the module may qualify a class in the class's own equality`() {
        let equality = "static func == (left: TestModule.Trip, right: Trip) -> Bool { true }"
        let expansion = Refusal(of: "@Model class Trip { \(equality) }", with: Specs.model).expansion
        #expect(expansion.contains("@_implements(Swift.Equatable, ==(_:_:))"))
    }

    @Test(
        arguments: [
            "", "static func == (left: Trip, right: Int) -> Bool { true }",
            "static func == (left: Trip, right: Legacy.Trip) -> Bool { true }",
            "static func == (left: Trip, right: Trip?) -> Bool { true }",
            "static func == (left: Trip<Int>, right: Trip<Int>) -> Bool { true }",
            "static func != (left: Trip, right: Trip) -> Bool { true }",
        ]
    )
    func `a class without an equality of its objects uses that of all models`(declaration: String) {
        let expansion = Refusal(of: "@Model final class Trip<Value> { \(declaration) }", with: Specs.model).expansion
        #expect(!expansion.contains("@_implements"))
    }

    @Test func `a class with a deprecated property has a deprecated schema`() {
        expect(
            """
            @Model final class Trip {
                @available(*, deprecated, renamed: "title")
                var name = ""
                init() {}
            }
            """,
            expandsTo: """
                final class Trip {
                    @available(*, deprecated, renamed: "title")
                    @SealedData._PersistedProperty(slot: 0)
                    var name = ""
                    init() {}

                    @safe @exclusivity(unchecked) nonisolated(unsafe) var _$state = SealedData._ObjectState(Trip.self)

                    @safe nonisolated var _$address: Swift.UnsafeMutablePointer<SealedData._ObjectState> {
                        unsafe Swift.withUnsafeMutablePointer(to: &_$state) {
                            unsafe $0
                        }
                    }

                    nonisolated static var _$slotCount: Swift.Int {
                        1
                    }

                    nonisolated static func _$applyDefaults(to _$state: inout SealedData._ObjectState) {
                        let _$0 = ""
                        Trip._$initialize(&_$state, 0, to: _$0)
                    }

                    @available(*, deprecated)
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

                    @available(*, deprecated)
                    nonisolated static var schemaMetadata: [SealedData.Schema.PropertyMetadata] {
                        SealedData._unisolated(_$ownMetadata_Trip)
                    }

                    nonisolated init(_materializing: SealedData._Materialization) {

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
}
