import Foundation
import Guarded

/// A node of a predicate that can be translated.
protocol ReadableExpression {
    /// Returns the reading of the node.
    ///
    /// - Throws: ``UnsupportedPredicate``.
    func read(in context: ReadingContext) throws -> Reading
}

extension ReadableExpression {
    /// Reads the node of this type at an address.
    fileprivate static func read(at address: UnsafeRawPointer, in context: ReadingContext) throws -> Reading {
        try address.assumingMemoryBound(to: Self.self).pointee.read(in: context)
    }
}

/// The translations of types of nodes.
///
/// Asking the runtime whether a type of nodes conforms to ``ReadableExpression`` takes a tenth of the time of a short
/// fetch. The answers are kept in a table with one place for each type, chosen by its address. A type replaces an
/// earlier type with the same place.
enum ReadableExpressions {
    /// `@unchecked Sendable`: the properties are constants. Types are immutable, and the translation of a node belongs to
    /// no actor: ``ReadableExpression`` has no isolated requirement.
    private struct Entry: @unchecked Sendable {
        let node: Any.Type
        /// Nil if the nodes cannot be translated.
        let readable: (any ReadableExpression.Type)?
    }

    /// The number of places, a power of two.
    private static let placeCount = 256

    private static let entries = Guarded(firstEntries)

    /// One type of nodes from each file that conforms types of Foundation to ``ReadableExpression``.
    ///
    /// Nothing else names these conformances, because the runtime finds them. A linker takes from a static library only
    /// the object files that are named: without this list, it leaves the translations out.
    private static var linked: [any (PredicateExpression & ReadableExpression).Type] {
        [
            PredicateExpressions.Arithmetic<Integer, Integer>.self,
            PredicateExpressions.TypeCheck<Integer, Int>.self,
            PredicateExpressions.SequenceContains<Integers, Integer>.self,
            PredicateExpressions.Equal<Integer, Integer>.self,
            PredicateExpressions.SequenceMaximum<Integers>.self,
            PredicateExpressions.KeyPath<Integer, String>.self,
            PredicateExpressions.Negation<PredicateExpressions.Value<Bool>>.self,
            PredicateExpressions.ForcedUnwrap<PredicateExpressions.Value<Int?>, Int>.self,
            PredicateExpressions.Range<Integer, Integer>.self,
            PredicateExpressions.CollectionContainsCollection<Integers, Integers>.self,
            PredicateExpressions.CollectionIndexSubscript<Integers, Integer>.self,
            PredicateExpressions.Value<Int>.self,
        ]
    }
    private typealias Integer = PredicateExpressions.Value<Int>
    private typealias Integers = PredicateExpressions.Value<[Int]>

    private static var firstEntries: [Entry?] {
        var entries = [Entry?](repeating: nil, count: placeCount)
        for type in linked { entries[place(of: type)] = Entry(node: type, readable: type) }
        return entries
    }

    /// The place of a type.
    private static func place(of type: any PredicateExpression.Type) -> Int {
        let address = UInt(bitPattern: ObjectIdentifier(type))
        return Int((address >> 4 ^ address >> 12) % UInt(placeCount))
    }

    /// Returns the reading of a node.
    ///
    /// - Throws: ``UnsupportedPredicate``.
    static func read<Node: PredicateExpression>(_ node: Node, in context: ReadingContext) throws -> Reading {
        guard let readable = readable(Node.self) else { throw UnsupportedPredicate(unknown: Node.self) }
        // `Node` and the type of the entry are the same type.
        return try withUnsafePointer(to: node) { try readable.read(at: UnsafeRawPointer($0), in: context) }
    }

    private static func readable<Node: PredicateExpression>(_ type: Node.Type) -> (any ReadableExpression.Type)? {
        let place = place(of: type)
        if let known = entries.withLock({ $0[place] }), known.node == type { return known.readable }
        let readable = type as? any ReadableExpression.Type
        entries.withLock { $0[place] = Entry(node: type, readable: readable) }
        return readable
    }
}
