import Testing

@Suite("Initial values become defaults of new objects")
struct DefaultValueTests {
    @Test func `comments around an initial value are dropped`() {
        expect(
            """
            @Model final class Trip {
                var trailing = 1 // a comment
                var block: Int /* of */ = /* the */ 2 /* sum */
                init() {}
            }
            """,
            expandsTo: """
                final class Trip {
                    @SealedData._PersistedProperty(slot: 0)
                    var trailing = 1 // a comment
                    @SealedData._PersistedProperty(slot: 1)
                    var block: Int /* of */ = /* the */ 2 /* sum */
                    init() {}

                    @safe @exclusivity(unchecked) nonisolated(unsafe) var _$state = SealedData._ObjectState(Trip.self)

                    @safe nonisolated var _$address: Swift.UnsafeMutablePointer<SealedData._ObjectState> {
                        unsafe Swift.withUnsafeMutablePointer(to: &_$state) {
                            unsafe $0
                        }
                    }

                    nonisolated static var _$slotCount: Swift.Int {
                        2
                    }

                    nonisolated static func _$applyDefaults(to _$state: inout SealedData._ObjectState) {
                        let _$0 = 1
                        Trip._$initialize(&_$state, 0, to: _$0)
                        let _$1: Int = 2
                        Trip._$initialize(&_$state, 1, to: _$1)
                    }

                    private static func _$ownMetadata_Trip() -> [SealedData.Schema.PropertyMetadata] {
                        [
                            SealedData.Schema.PropertyMetadata(
                                name: "trailing",
                                keypath: \\Trip.trailing,
                                defaultValue: 1,
                                metadata: nil
                            ),
                            SealedData.Schema.PropertyMetadata(
                                name: "block",
                                keypath: \\Trip.block,
                                defaultValue: (2) as Int,
                                metadata: nil
                            )
                        ]
                    }

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

    @Test func `optional properties start as nil without a default`() {
        expect(
            """
            @Model final class Trip {
                var optional: Int?
                var unwrapped: Int!
                var given: Int! = 3
                var `default`: Set<P>? = nil
                init() {}
            }
            """,
            expandsTo: """
                final class Trip {
                    @SealedData._PersistedProperty(slot: 0)
                    var optional: Int?
                    @SealedData._PersistedProperty(slot: 1)
                    var unwrapped: Int!
                    @SealedData._PersistedProperty(slot: 2)
                    var given: Int! = 3
                    @SealedData._PersistedProperty(slot: 3)
                    var `default`: Set<P>? = nil
                    init() {}

                    @safe @exclusivity(unchecked) nonisolated(unsafe) var _$state = SealedData._ObjectState(Trip.self)

                    @safe nonisolated var _$address: Swift.UnsafeMutablePointer<SealedData._ObjectState> {
                        unsafe Swift.withUnsafeMutablePointer(to: &_$state) {
                            unsafe $0
                        }
                    }

                    nonisolated static var _$slotCount: Swift.Int {
                        4
                    }

                    nonisolated static func _$applyDefaults(to _$state: inout SealedData._ObjectState) {
                        let _$2: Int? = 3
                        Trip._$initialize(&_$state, 2, to: _$2)
                        let _$3: Set<P>? = nil
                        Trip._$initialize(&_$state, 3, to: _$3)
                    }

                    private static func _$ownMetadata_Trip() -> [SealedData.Schema.PropertyMetadata] {
                        [
                            SealedData.Schema.PropertyMetadata(
                                name: "optional",
                                keypath: \\Trip.optional,
                                defaultValue: nil,
                                metadata: nil
                            ),
                            SealedData.Schema.PropertyMetadata(
                                name: "unwrapped",
                                keypath: \\Trip.unwrapped,
                                defaultValue: nil,
                                metadata: nil
                            ),
                            SealedData.Schema.PropertyMetadata(
                                name: "given",
                                keypath: \\Trip.given,
                                defaultValue: (3) as Int?,
                                metadata: nil
                            ),
                            SealedData.Schema.PropertyMetadata(
                                name: "default",
                                keypath: \\Trip.`default`,
                                defaultValue: (nil) as Set<P>?,
                                metadata: nil
                            )
                        ]
                    }

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

    @Test func `initial values of several lines are kept unchanged`() {
        expect(
            #"""
            @Model final class Trip {
                var called: [Int] = {
                    // Computed once.
                    [1, 2]
                }()
                var text = "a\(1 + 2)"
                var lines = """
                    first
                      second
                    """
                init() {}
            }
            """#,
            expandsTo: #"""
                final class Trip {
                    @SealedData._PersistedProperty(slot: 0)
                    var called: [Int] = {
                        // Computed once.
                        [1, 2]
                    }()
                    @SealedData._PersistedProperty(slot: 1)
                    var text = "a\(1 + 2)"
                    @SealedData._PersistedProperty(slot: 2)
                    var lines = """
                        first
                          second
                        """
                    init() {}

                    @safe @exclusivity(unchecked) nonisolated(unsafe) var _$state = SealedData._ObjectState(Trip.self)

                    @safe nonisolated var _$address: Swift.UnsafeMutablePointer<SealedData._ObjectState> {
                        unsafe Swift.withUnsafeMutablePointer(to: &_$state) {
                            unsafe $0
                        }
                    }

                    nonisolated static var _$slotCount: Swift.Int {
                        3
                    }

                    nonisolated static func _$applyDefaults(to _$state: inout SealedData._ObjectState) {
                        let _$0: [Int] = {
                            // Computed once.
                            [1, 2]
                        }()
                        Trip._$initialize(&_$state, 0, to: _$0)
                        let _$1 = "a\(1 + 2)"
                        Trip._$initialize(&_$state, 1, to: _$1)
                        let _$2 = """
                                first
                                  second
                                """
                        Trip._$initialize(&_$state, 2, to: _$2)
                    }

                    private static func _$ownMetadata_Trip() -> [SealedData.Schema.PropertyMetadata] {
                        [
                            SealedData.Schema.PropertyMetadata(
                                name: "called",
                                keypath: \Trip.called,
                                defaultValue: ({
                                        // Computed once.
                                        [1, 2]
                                    }()) as [Int],
                                metadata: nil
                            ),
                            SealedData.Schema.PropertyMetadata(
                                name: "text",
                                keypath: \Trip.text,
                                defaultValue: "a\(1 + 2)",
                                metadata: nil
                            ),
                            SealedData.Schema.PropertyMetadata(
                                name: "lines",
                                keypath: \Trip.lines,
                                defaultValue: """
                                        first
                                          second
                                        """,
                                metadata: nil
                            )
                        ]
                    }

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
                """#,
            with: Specs.model
        )
    }

    @Test func `a conditional value is assigned in a closure`() {
        expect(
            """
            @Model final class Trip {
                var condition: Int = if flag { 1 } else { 2 }
                var choice = switch flag { case true: 1; case false: 2 }
                init() {}
            }
            """,
            expandsTo: """
                final class Trip {
                    @SealedData._PersistedProperty(slot: 0)
                    var condition: Int = if flag { 1 } else { 2 }
                    @SealedData._PersistedProperty(slot: 1)
                    var choice = switch flag { case true: 1; case false: 2 }
                    init() {}

                    @safe @exclusivity(unchecked) nonisolated(unsafe) var _$state = SealedData._ObjectState(Trip.self)

                    @safe nonisolated var _$address: Swift.UnsafeMutablePointer<SealedData._ObjectState> {
                        unsafe Swift.withUnsafeMutablePointer(to: &_$state) {
                            unsafe $0
                        }
                    }

                    nonisolated static var _$slotCount: Swift.Int {
                        2
                    }

                    nonisolated static func _$applyDefaults(to _$state: inout SealedData._ObjectState) {
                        let _$0: Int = if flag {
                            1
                        } else {
                            2
                        }
                        Trip._$initialize(&_$state, 0, to: _$0)
                        let _$1 = switch flag {
                        case true:
                            1;
                        case false:
                            2
                        }
                        Trip._$initialize(&_$state, 1, to: _$1)
                    }

                    private static func _$ownMetadata_Trip() -> [SealedData.Schema.PropertyMetadata] {
                        [
                            SealedData.Schema.PropertyMetadata(
                                name: "condition",
                                keypath: \\Trip.condition,
                                defaultValue: {
                                    let _$initialValue: Int = if flag {
                                        1
                                    } else {
                                        2
                                    };
                                    return _$initialValue
                                }(),
                                metadata: nil
                            ),
                            SealedData.Schema.PropertyMetadata(
                                name: "choice",
                                keypath: \\Trip.choice,
                                defaultValue: {
                                    let _$initialValue = switch flag {
                                    case true:
                                        1;
                                    case false:
                                        2
                                    };
                                    return _$initialValue
                                }(),
                                metadata: nil
                            )
                        ]
                    }

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
