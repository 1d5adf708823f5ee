import SealedData

// Names of classes and properties that are also names of generic parameters, types, keywords and members elsewhere.

enum Hostile {
    @Model class M {
        var state = 1
        var description = "d"
        var hash = 2
        var slot = 3
        var context = "c"
        var type = "t"
        var value = 5
        var keyPaths = ["k"]
        var newValue = 6
        var oldValue = 7 {
            didSet { value = oldValue }
        }
        var initialValue = 8
        var `init` = 9
        var `class` = 10
        var `default` = 11.5
        var `in`: Int? = 12
        var `repeat`: [String] = []
        var model = "m"
        var schema = "schema"
        var registrar = 13
        var other: M?
        init() {}
    }

    @Model class Leaf: M {
        var element = 1
        let `let`: Int
        var `func`: String

        init(_ `let`: Int) {
            self.let = `let`
            self.func = "f"
            super.init()
            self.model = "leaf"
        }
    }

    @Model final class Value { var value = 1 }
    @Model final class Element { var element: Element? = nil }
    @Model final class Result { var result = "r" }
    @Model final class State { var state = 0.5 }
    @Model final class Model { var models: [Value] = [] }
    @Model final class Attribute { @SealedData.Attribute(.unique) var attribute = 1 }
    @Model final class Relationship { @SealedData.Relationship var relationship: Relationship? }
    @Model final class `protocol` { var name = "p" }
    @Model final class _$Model { var name = "m" }
}

/// Outside any namespace.
@Model class M {
    var m = 1
    var n = "n"
    init() {}
}

@Model final class N: M {
    var o = 2.5
}
