import SealedData

// Stand-ins for attributes of other packages: macros that add nothing to what they stand on.

@attached(peer)
macro PrimaryKey() = #externalMacro(module: "SealedDataMacros", type: "TransformablePropertyMacro")

@attached(peer)
macro Coded(_ name: String) = #externalMacro(module: "SealedDataMacros", type: "TransformablePropertyMacro")

/// What an app's models share.
protocol Titled {
    var title: String { get }
}

protocol Dated: AnyObject {
    var created: Date { get set }
}

extension Titled {
    var heading: String { title.uppercased() }
}
