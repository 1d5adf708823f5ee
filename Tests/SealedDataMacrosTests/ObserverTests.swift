import Testing

@Suite("Property observers")
struct ObserverTests {
    @Test func `didSet runs after the change and the old value is read only on demand`() {
        expect(
            """
            final class Trip {
                @_PersistedProperty(slot: 0) var count: Int = 3 {
                    didSet { changes += 1 }
                }
            }
            """,
            expandsTo: """
                final class Trip {
                    var count: Int {
                        didSet { changes += 1 }
                        get {
                            _$value(at: 0)
                        }

                        set {
                            _$setValue(newValue, at: 0)
                            func _$didSet() {
                                do {
                                    changes += 1
                                }
                            }
                            _$didSet()
                        }
                    }
                }
                """,
            with: Specs.properties
        )
    }

    @Test func `both observers with custom parameter names`() {
        expect(
            """
            final class Trip {
                @_PersistedProperty(slot: 0) var count: Int {
                    willSet(next) {
                        if next == count { return }
                    }
                    didSet(previous) { self.count = min(previous, 10) }
                }
            }
            """,
            expandsTo: """
                final class Trip {
                    var count: Int {
                        willSet(next) {
                            if next == count { return }
                        }
                        didSet(previous) { self.count = min(previous, 10) }
                        get {
                            _$value(at: 0)
                        }

                        set {
                            func _$willSet() {
                                let next = newValue
                                var count: Int {
                                    get {
                                        _$value(at: 0)
                                    }
                                    set {
                                        _$setValue(newValue, at: 0)
                                    }
                                }
                                do {
                                    if next == count {
                                        return
                                    }
                                }
                            }
                            _$willSet()
                            let _$oldValue = self.count
                            _$setValue(newValue, at: 0)
                            func _$didSet() {
                                let previous = _$oldValue
                                var _$observed: Int {
                                    get {
                                        _$value(at: 0)
                                    }
                                    set {
                                        _$setValue(newValue, at: 0)
                                    }
                                }
                                do {
                                    _$observed = min(previous, 10)
                                }
                            }
                            _$didSet()
                        }
                    }
                }
                """,
            with: Specs.properties
        )
    }

    @Test func `an observer that refers to its property accesses it without observers`() {
        expect(
            """
            final class Trip {
                @_PersistedProperty(slot: 4) var text = "x" {
                    didSet {
                        // Never longer than that.
                        if text.count > 10 { text.removeLast() }
                        other.text = oldValue
                    }
                }
            }
            """,
            expandsTo: """
                final class Trip {
                    var text {
                        didSet {
                            // Never longer than that.
                            if text.count > 10 { text.removeLast() }
                            other.text = oldValue
                        }
                        get {
                            _$value(at: 4)
                        }

                        set {
                            let _$oldValue = self.text
                            _$setValue(newValue, at: 4)
                            func _$didSet() {
                                let oldValue = _$oldValue
                                var text: String {
                                    get {
                                        _$value(at: 4)
                                    }
                                    set {
                                        _$setValue(newValue, at: 4)
                                    }
                                }
                                do {
                                    if text.count > 10 {
                                        text.removeLast()
                                    }
                                                other.text = oldValue
                                }
                            }
                            _$didSet()
                        }
                    }
                }
                """,
            with: Specs.properties
        )
    }
}
