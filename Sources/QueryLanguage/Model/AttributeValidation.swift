/// The rules for the values of an attribute, in addition to its type. A save checks them. Null satisfies every rule;
/// ``AttributeDescription/isOptional`` determines whether an attribute may be null.
public struct AttributeValidation: Hashable, Sendable {
    /// The smallest value, in its stored form; nil for no limit.
    public var minimum: Value?
    /// The largest value, in its stored form; nil for no limit.
    public var maximum: Value?
    /// The smallest length: characters of a text, bytes of data.
    public var minimumLength: Int?
    /// The largest length: characters of a text, bytes of data.
    public var maximumLength: Int?

    /// Creates rules; nil is no limit.
    public init(
        minimum: Value? = nil,
        maximum: Value? = nil,
        minimumLength: Int? = nil,
        maximumLength: Int? = nil
    ) {
        self.minimum = minimum
        self.maximum = maximum
        self.minimumLength = minimumLength
        self.maximumLength = maximumLength
    }

    /// Whether there are no rules.
    package var isEmpty: Bool { self == AttributeValidation() }

    /// Returns the contradiction in the rules for an attribute of a type; nil if they have none.
    func contradiction(for type: AttributeType) -> String? {
        for bound in [minimum, maximum].compactMap(\.self) where bound.isNull || !bound.fits(type) {
            return "the bounds of its values are not of its type"
        }
        if let minimum, let maximum, minimum.compare(maximum) > 0 { return "its minimum is above its maximum" }
        let lengths = [minimumLength, maximumLength].compactMap(\.self)
        if !lengths.isEmpty, !type.hasLength {
            return "only text and data have a length"
        }
        if lengths.contains(where: { $0 < 0 }) { return "a length cannot be negative" }
        if let minimumLength, let maximumLength, minimumLength > maximumLength {
            return "its minimum length is above its maximum length"
        }
        return nil
    }
}
