public import ObjectGraph

@_exported public import enum ObjectGraph.FullTextTokenizer

extension Schema {
    /// The indexes that one `#Index` declares for a model.
    public final class Index<T: PersistentModel>: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
        // Sound because nothing can be written, and key paths are immutable.

        /// An index of a kind, over one property or several.
        public enum Types<P: PersistentModel>: Hashable {
            /// A B-tree, for equality, ranges and sorting.
            case binary([PartialKeyPath<P>])
            /// An R-tree, for ranges over one to five numbers or dates at once.
            case rtree([PartialKeyPath<P>])
            /// A full-text index over texts, for ``FetchDescriptor/search``. One of trigrams serves languages without blanks
            /// between words, and predicates with `contains` and `localizedStandardContains`, too. The prefix lengths are
            /// numbers of characters for which beginnings of words are found faster.
            case fullText(
                [PartialKeyPath<P>],
                tokenizer: FullTextTokenizer = .unicode61,
                prefixLengths: [Int] = []
            )
        }

        /// The indexes.
        public let indices: [Types<T>]

        /// Makes B-trees, each over the properties of one list.
        public init(_ indices: [PartialKeyPath<T>]...) {
            self.indices = indices.map(Types.binary)
        }

        /// Makes indexes by kind.
        public init(_ indices: Types<T>...) {
            self.indices = indices
        }

        private enum CodingKeys: String, CodingKey {
            case indices
        }

        /// Reads what ``encode(to:)`` writes.
        ///
        /// - Throws: `DecodingError` where the model has no property of a name.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            indices = try container.decode([FetchIndexDescription].self, forKey: .indices).map { index in
                let keyPaths = try PropertyLookup.keyPaths(
                    named: index.properties,
                    in: T.self,
                    at: container.codingPath + [CodingKeys.indices]
                )
                return switch index.kind {
                case .binary: .binary(keyPaths)
                case .rtree: .rtree(keyPaths)
                case .fullText(let options):
                    .fullText(keyPaths, tokenizer: options.tokenizer, prefixLengths: options.prefixLengths)
                }
            }
        }

        /// Writes the kinds of the indexes and the names of their properties.
        ///
        /// - Throws: `EncodingError` where a key path is no persisted property of the model.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            let descriptions = try rules.map { rule in
                let names = try PropertyLookup.names(
                    of: rule.keyPaths,
                    in: T.self,
                    at: container.codingPath + [CodingKeys.indices]
                )
                return FetchIndexDescription(names, kind: rule.kind)
            }
            try container.encode(descriptions, forKey: .indices)
        }

        /// False.
        public var isUnique: Bool { false }

        /// Whether both declare the same indexes.
        public static func == (left: Index, right: Index) -> Bool { left.indices == right.indices }

        /// Hashes the indexes.
        public func hash(into hasher: inout Hasher) { hasher.combine(indices) }

        /// The model and the properties of each index.
        public var debugDescription: String { "Index<\(T.self)>(\(indices))" }
    }

    /// The uniqueness constraints that one `#Unique` declares for a model.
    public final class Unique<T: PersistentModel>: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
        // Sound because nothing can be written, and key paths are immutable.

        /// The constraints: at most one object has given values of all properties of a list.
        public let constraints: [[PartialKeyPath<T>]]

        /// Makes constraints, each over the properties of one list.
        public init(_ constraints: [PartialKeyPath<T>]...) {
            self.constraints = constraints
        }

        private enum CodingKeys: String, CodingKey {
            case constraints
        }

        /// Reads what ``encode(to:)`` writes.
        ///
        /// - Throws: `DecodingError` where the model has no property of a name.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            constraints = try container.decode([[String]].self, forKey: .constraints).map {
                try PropertyLookup.keyPaths(
                    named: $0,
                    in: T.self,
                    at: container.codingPath + [CodingKeys.constraints]
                )
            }
        }

        /// Writes the names of the properties.
        ///
        /// - Throws: `EncodingError` where a key path is no persisted property of the model.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            let names = try constraints.map {
                try PropertyLookup.names(of: $0, in: T.self, at: container.codingPath + [CodingKeys.constraints])
            }
            try container.encode(names, forKey: .constraints)
        }

        /// True.
        public var isUnique: Bool { true }

        /// Whether both declare the same constraints.
        public static func == (left: Unique, right: Unique) -> Bool { left.constraints == right.constraints }

        /// Hashes the constraints.
        public func hash(into hasher: inout Hasher) { hasher.combine(constraints) }

        /// The model and the properties of each constraint.
        public var debugDescription: String { "Unique<\(T.self)>(\(constraints))" }
    }
}

/// An ``Schema/Index``, whatever its model.
protocol IndexRule {
    var rules: [(kind: FetchIndexDescription.Kind, keyPaths: [AnyKeyPath])] { get }
}

/// A ``Schema/Unique``, whatever its model.
protocol UniqueRule {
    var rules: [[AnyKeyPath]] { get }
}

extension Schema.Index: IndexRule {
    var rules: [(kind: FetchIndexDescription.Kind, keyPaths: [AnyKeyPath])] {
        indices.map {
            switch $0 {
            case .binary(let keyPaths): (.binary, keyPaths)
            case .rtree(let keyPaths): (.rtree, keyPaths)
            case .fullText(let keyPaths, let tokenizer, let prefixLengths):
                (.fullText(FullTextOptions(tokenizer: tokenizer, prefixLengths: prefixLengths)), keyPaths)
            }
        }
    }
}

extension Schema.Unique: UniqueRule {
    var rules: [[AnyKeyPath]] { constraints }
}
