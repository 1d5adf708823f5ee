import SealedData

// Stand-ins for attributes of other packages: macros with empty expansions.

@attached(peer)
macro PrimaryKey() = #externalMacro(module: "SealedDataMacros", type: "TransformablePropertyMacro")

@attached(peer)
macro Coded(_ name: String) = #externalMacro(module: "SealedDataMacros", type: "TransformablePropertyMacro")

/// A protocol of an app's models.
protocol Titled {
    var title: String { get }
}

protocol Dated: AnyObject {
    var created: Date { get set }
}

extension Titled {
    var heading: String { title.uppercased() }
}
