import Foundation
import ObjectGraph

/// A collection whose elements are stored as a JSON array.
private protocol ListedElements {
    static var elementType: any Any.Type { get }
}

extension Array: ListedElements {
    fileprivate static var elementType: any Any.Type { Element.self }
}

extension ArraySlice: ListedElements {
    fileprivate static var elementType: any Any.Type { Element.self }
}

extension ContiguousArray: ListedElements {
    fileprivate static var elementType: any Any.Type { Element.self }
}

extension Set: ListedElements {
    fileprivate static var elementType: any Any.Type { Element.self }
}

/// A dictionary whose values are stored as a JSON object.
private protocol KeyedValues {
    static var keyType: any Any.Type { get }
    static var valueType: any Any.Type { get }
}

extension Dictionary: KeyedValues {
    fileprivate static var keyType: any Any.Type { Key.self }
    fileprivate static var valueType: any Any.Type { Value.self }
}

/// A collection whose key paths to `count` and `isEmpty` Foundation does not recognize.
private protocol CountedElements {
    static var countPath: AnyKeyPath { get }
    static var isEmptyPath: AnyKeyPath { get }
}

extension Dictionary: CountedElements {
    fileprivate static var countPath: AnyKeyPath { \Self.count }
    fileprivate static var isEmptyPath: AnyKeyPath { \Self.isEmpty }
}

extension ArraySlice: CountedElements {
    fileprivate static var countPath: AnyKeyPath { \Self.count }
    fileprivate static var isEmptyPath: AnyKeyPath { \Self.isEmpty }
}

extension Members {
    /// Creates the elements of an array or a set that is a composite value, or the values of a dictionary; nil for
    /// other types, and if the form of the elements is unknown.
    init?(elementsOf whole: QueryExpression, as type: any Any.Type, number: Int) {
        let elementType: any Any.Type
        if let list = type as? any ListedElements.Type {
            elementType = list.elementType
        } else if let dictionary = type as? any KeyedValues.Type, dictionary.hasObjectForm {
            elementType = dictionary.valueType
        } else {
            return nil
        }
        guard let attributeType = CompositePart.type(of: elementType) else { return nil }
        self.init(source: .elements(of: whole, type: attributeType), member: .value(attributeType), number: number)
    }

    /// Returns the element at an index; a negative index counts from the end.
    func element(at index: Int, of whole: QueryExpression) -> Reading {
        guard case .value(let type) = member else { return .members(self) }
        return .part([.index(index)], of: whole, type: type)
    }
}

extension Reading {
    /// Returns a part of a composite value.
    static func part(_ keys: [ComponentKey], of whole: QueryExpression, type: AttributeType) -> Reading {
        var (keys, whole) = (keys, whole)
        // A part of a part is a single part with the keys of both.
        if case .component(let outer, let outermost, _) = whole { (keys, whole) = (outer + keys, outermost) }
        let part = QueryExpression.component(keys, of: whole, type: type)
        return type == .composite ? .composite(part) : .value(part)
    }
}

extension KeyedValues {
    /// Whether the keys are names in the JSON form. Other dictionaries are lists of alternating keys and values.
    fileprivate static var hasObjectForm: Bool { keyType == String.self || keyType == Int.self }
}

/// Returns true for the key path `count` of a dictionary or slice, false for `isEmpty`, nil for other key paths.
func isCountOfElements(_ keyPath: AnyKeyPath, _ type: any Any.Type) -> Bool? {
    guard let collection = type as? any CountedElements.Type else { return nil }
    return keyPath == collection.countPath ? true : keyPath == collection.isEmptyPath ? false : nil
}

/// Returns the type of the values of a dictionary that is stored as a JSON object; nil for other types.
func valueTypeOfObject(_ type: any Any.Type) -> (any Any.Type)? {
    guard let dictionary = type as? any KeyedValues.Type, dictionary.hasObjectForm else { return nil }
    return dictionary.valueType
}

extension ReadingContext {
    /// Reads a node as a collection: a composite value as its elements.
    func readCollection<Node: PredicateExpression>(_ node: Node) throws -> Reading {
        let reading = try read(node)
        guard case .composite(let whole) = reading, !(Node.Output.self is any KeyedValues.Type),
            let members = Members(elementsOf: whole, as: Node.Output.self, number: depth)
        else { return reading }
        return .members(members)
    }
}
