import Testing

@Suite("The accessors of a persisted property")
struct PersistedPropertyTests {
    @Test func `a property reads and writes its slot`() {
        expect(
            """
            final class Trip {
                @_PersistedProperty(slot: 2) var name: String
            }
            """,
            expandsTo: """
                final class Trip {
                    var name: String {
                        get {
                            _$value(at: 2)
                        }
                        set {
                            _$setValue(newValue, at: 2)
                        }
                    }
                }
                """,
            with: Specs.properties
        )
    }

    @Test func `an array is changed in place`() {
        expect(
            """
            final class Trip {
                @_PersistedProperty(slot: 2) var stops: [Stop]?
            }
            """,
            expandsTo: """
                final class Trip {
                    var stops: [Stop]? {
                        get {
                            _$value(at: 2)
                        }
                        set {
                            _$setValue(newValue, at: 2)
                        }
                        _modify {
                            var _$elements: [Stop]? = _$take(at: 2)
                            defer {
                                _$put(_$elements, at: 2)
                            }
                            yield &_$elements
                        }
                    }
                }
                """,
            with: Specs.properties
        )
    }

    @Test(arguments: ["ColourTransformer.self", "\"Colours\"", "name.rawValue"])
    func `a value transformer is passed to the accessors`(transformer: String) {
        expect(
            """
            final class Trip {
                @Attribute(.externalStorage, .transformable(by: \(transformer)))
                @_PersistedProperty(slot: 2) var colours: [Colour]?
            }
            """,
            expandsTo: """
                final class Trip {
                    @Attribute(.externalStorage, .transformable(by: \(transformer)))
                    var colours: [Colour]? {
                        get {
                            _$value(at: 2, by: SealedData._AttributeTransformer(\(transformer)))
                        }
                        set {
                            _$setValue(newValue, at: 2, by: SealedData._AttributeTransformer(\(transformer)))
                        }
                    }
                }
                """,
            with: Specs.properties
        )
    }

    @Test func `an initializer passes a value transformer`() {
        expect(
            """
            final class Trip {
                @Attribute(.transformable(by: ColourTransformer.self))
                @_InitializedProperty(slot: 0) var colour: Colour
            }
            """,
            expandsTo: """
                final class Trip {
                    @Attribute(.transformable(by: ColourTransformer.self))
                    var colour: Colour {
                        @storageRestrictions(accesses: _$state, initializes: _$p_colour)
                        init(initialValue) {
                            Trip._$initialize(&_$state, 0, to: initialValue, \
                by: SealedData._AttributeTransformer(ColourTransformer.self))
                            _$p_colour = SealedData._NoStorage()
                        }
                    }

                    private var _$p_colour: SealedData._NoStorage
                }
                """,
            with: Specs.properties
        )
    }

    @Test func `an initializer must assign a property without a default`() {
        expect(
            """
            final class Trip {
                @_InitializedProperty(slot: 0) var name: String
            }
            """,
            expandsTo: """
                final class Trip {
                    var name: String {
                        @storageRestrictions(accesses: _$state, initializes: _$p_name)
                        init(initialValue) {
                            Trip._$initialize(&_$state, 0, to: initialValue)
                            _$p_name = SealedData._NoStorage()
                        }
                    }

                    private var _$p_name: SealedData._NoStorage
                }
                """,
            with: Specs.properties
        )
    }

    @Test(arguments: ["name: String?", "name: String!"])
    func `an initializer need not assign an optional property`(binding: String) {
        expect(
            """
            final class Trip {
                @_InitializedProperty(slot: 0) var \(binding)
            }
            """,
            expandsTo: """
                final class Trip {
                    var \(binding) {
                        @storageRestrictions(accesses: _$state, initializes: _$p_name)
                        init(initialValue) {
                            Trip._$initialize(&_$state, 0, to: initialValue)
                            _$p_name = ()
                        }
                    }

                    private var _$p_name: ()
                }
                """,
            with: Specs.properties
        )
    }

    @Test func `a name in backticks loses them after the prefix`() {
        expect(
            """
            final class `Type` {
                @_InitializedProperty(slot: 1) var `class`: Int
            }
            """,
            expandsTo: """
                final class `Type` {
                    var `class`: Int {
                        @storageRestrictions(accesses: _$state, initializes: _$p_class)
                        init(initialValue) {
                            `Type`._$initialize(&_$state, 1, to: initialValue)
                            _$p_class = SealedData._NoStorage()
                        }
                    }

                    private var _$p_class: SealedData._NoStorage
                }
                """,
            with: Specs.properties
        )
    }
}
