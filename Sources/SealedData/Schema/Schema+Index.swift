import ObjectGraph

@_exported public import enum QueryLanguage.FullTextTokenizer

extension Schema {
    /// The indexes that an `#Index` declares for a model.
    ///
    /// `@unchecked Sendable`: all properties are constants, and key paths are immutable.
    public final class Index<T: PersistentModel>: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
        /// An index of a kind, over one or more properties.
        public enum Types<P: PersistentModel>: Hashable {
            /// A B-tree, for equality, ranges and sorting.
            case binary([PartialKeyPath<P>])
            /// An R-tree, for ranges over one to five numbers or dates at once.
            case rtree([PartialKeyPath<P>])
            /// A full-text index over texts, for ``FetchDescriptor/search``. An index of trigrams supports languages
            /// without blanks between words, and also predicates with `contains` and `localizedStandardContains`. The
            /// prefix lengths are the numbers of characters for which the index stores word prefixes.
            case fullText(
                [PartialKeyPath<P>],
                tokenizer: FullTextTokenizer = .unicode61,
                prefixLengths: [Int] = []
            )
        }

        /// The indexes.
        public let indices: [Types<T>]

        /// Makes B-trees, each over a list of properties.
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

        /// Decodes the format of ``encode(to:)``.
        ///
        /// - Throws: `DecodingError` if the model has no property with a name.
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

        /// Encodes the kinds of the indexes and the names of their properties.
        ///
        /// - Throws: `EncodingError` if a key path is not a persisted property of the model.
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

    /// The uniqueness constraints that a `#Unique` declares for a model.
    ///
    /// `@unchecked Sendable`: all properties are constants, and key paths are immutable.
    public final class Unique<T: PersistentModel>: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
        /// The constraints: the combined values of each list of properties are unique.
        public let constraints: [[PartialKeyPath<T>]]

        /// Makes constraints, each over a list of properties.
        public init(_ constraints: [PartialKeyPath<T>]...) {
            self.constraints = constraints
        }

        private enum CodingKeys: String, CodingKey {
            case constraints
        }

        /// Decodes the format of ``encode(to:)``.
        ///
        /// - Throws: `DecodingError` if the model has no property with a name.
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

        /// Encodes the names of the properties.
        ///
        /// - Throws: `EncodingError` if a key path is not a persisted property of the model.
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

/// A ``Schema/Index`` of any model.
protocol IndexRule {
    var rules: [(kind: FetchIndexDescription.Kind, keyPaths: [AnyKeyPath])] { get }
}

/// A ``Schema/Unique`` of any model.
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
