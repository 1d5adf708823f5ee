public import Foundation
public import SealedData

/// A model class for programs that import it and inherit from it.
@Model open class Publication {
    #Unique<Publication>([\.code])
    /// A property.
    public let code: String
    /// A property that subclasses may override.
    open var title: String
    /// A property with an initial value.
    public private(set) var registered = Date(timeIntervalSinceReferenceDate: 0)
    /// The inverse is in this module.
    @Relationship(inverse: \Publisher.publications) public var publisher: Publisher?

    /// Creates a model.
    public init(code: String, title: String) {
        self.code = code
        self.title = title
    }

    /// Calls a method that a subclass may override.
    open func label() -> String { "\(title) (\(code))" }
}

/// A model class between the superclass and imported subclasses.
@Model open class Periodical: Publication {
    /// A property.
    public var issues: [Int]

    /// Creates a model.
    public init(code: String, title: String, issues: [Int]) {
        self.issues = issues
        super.init(code: code, title: title)
    }
}

/// A publisher.
@Model public final class Publisher {
    /// A property.
    public var name: String
    /// The published works.
    public var publications: [Publication] = []

    /// Creates a model.
    public init(name: String) { self.name = name }
}
