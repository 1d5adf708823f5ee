import ObjectGraph

extension QueryGenerator {
    // MARK: Texts

    /// Whether a comparison of the bytes of texts agrees with Swift's comparison.
    enum TextForm {
        /// There are no texts, or their bytes are compared.
        case none
        /// All texts are in normalization form C.
        case composed
        /// Equal texts may have different bytes.
        case mixed

        /// The form of texts that can have either of two forms.
        func combined(with other: TextForm) -> TextForm {
            if self == .mixed || other == .mixed { return .mixed }
            return self == .composed || other == .composed ? .composed : .none
        }
    }

    /// The form of the texts that an expression computes.
    func textForm(of expression: QueryExpression) -> TextForm {
        switch expression {
        case .parameter(_, let storage): storage == .text ? .mixed : .none
        case .literal(.text(let text)): text.composed.utf8.elementsEqual(text.utf8) ? .composed : .mixed
        case .path(let start, let path):
            if case .attribute(let attribute)? = path.last, attribute.type == .string {
                isMixed(path, from: start) ? .mixed : .composed
            } else {
                .none
            }
        case .conditional(_, let first, let second): textForm(of: first).combined(with: textForm(of: second))
        case .coalesce(let parts), .function(.minimum, let parts), .function(.maximum, let parts):
            parts.reduce(.none) { $0.combined(with: textForm(of: $1)) }
        case .aggregate(.minimum, let value), .aggregate(.maximum, let value): textForm(of: value)
        default: expression.resultType == .string ? .mixed : .none
        }
    }

    private func isMixed(_ path: [Property], from start: Int) -> Bool {
        guard let property = path.last else { return false }
        let entity =
            if case .relationship(let relationship)? = path.dropLast().last {
                relationship.destination
            } else {
                source(of: start).entity
            }
        let table = schema.table(of: entity)
        return table.column(of: property).map { schema.conditions.areFormsMixed(in: $0, of: table) } ?? true
    }

    /// Two values as the sides of a comparison.
    mutating func compared(
        _ left: QueryExpression,
        _ right: QueryExpression
    ) throws(SealedStoreError) -> (left: String, right: String) {
        if left.isConstantText, right.isConstantText { return (try composedValue(left), try composedValue(right)) }
        let forms = [left, right].map { $0.isConstantText ? TextForm.none : textForm(of: $0) }
        switch forms[0].combined(with: forms[1]) {
        case .none: return (try value(left), try value(right))
        case .composed: return (try composedValue(left), try composedValue(right))
        case .mixed: return (Self.collated(try value(left)), try value(right))
        }
    }

    /// A value, with a constant in normalization form C.
    private mutating func composedValue(_ expression: QueryExpression) throws(SealedStoreError) -> String {
        switch expression {
        case .literal(let value): return try self.value(.literal(value.composed))
        case .parameter(let number, .text):
            parameters.append(.constant(number, isComposed: true))
            return "?"
        default: return try value(expression)
        }
    }

    /// A value to sort or group by, or to aggregate by minimum and maximum.
    mutating func ordered(_ expression: QueryExpression) throws(SealedStoreError) -> String {
        let text = try value(expression)
        return textForm(of: expression) == .mixed ? Self.collated(text) : text
    }

    /// A term of ORDER BY.
    mutating func term(_ sort: QuerySort) throws(SealedStoreError) -> String {
        var text =
            sort.textOrder == .lexical
            ? try ordered(sort.expression)
            : "\(try value(sort.expression)) COLLATE \(QueryFunctions.name(of: sort.textOrder))"
        // A plain number would be the position of a column.
        if Int(text) != nil { text = "NULL" }
        let place = sort.nullPlacement.map { " NULLS \($0.rawValue.uppercased())" } ?? ""
        return "\(text) \(sort.ascending ? "ASC" : "DESC")\(place)"
    }

    /// A text that SQLite compares in Swift's order.
    static func collated(_ text: String) -> String { "(\(text) COLLATE \(QueryFunctions.name(of: .lexical)))" }

    /// The condition that a text starts with another text. The result is null for false.
    mutating func prefixTest(_ arguments: [QueryExpression]) throws(SealedStoreError) -> String {
        guard arguments.count == 2, case .path = arguments[0], textForm(of: arguments[0]) == .composed,
            case .literal(.text(let prefix)) = arguments[1], let next = prefix.composed.endOfRangeWithPrefix
        else { return "(\(try call(.startsWith, arguments)))" }
        // A range of bytes first: an index serves it, and it excludes most rows without a call of the function.
        let lower = try value(arguments[0])
        parameters.append(.text(prefix.composed))
        let upper = try value(arguments[0])
        parameters.append(.text(next))
        return "(\(lower) >= ? AND \(upper) < ? AND \(try call(.startsWith, arguments)))"
    }

    /// The value of a search for a text in another text, which is null if either text is.
    mutating func search(_ arguments: [QueryExpression]) throws(SealedStoreError) -> String {
        guard arguments.count == 2, case .path = arguments[0], arguments[1].isConstantText,
            textForm(of: arguments[0]) == .composed
        else { return "(\(try call(.contains, arguments)))" }
        // If the characters of a text contain the characters of a part, and both are in normalization form C, its bytes
        // contain the bytes of the part. The search by bytes, a function of SQLite, excludes most rows without a call
        // of the exact search.
        let text = try value(arguments[0])
        let part = try composedValue(arguments[1])
        return "(instr(\(text), \(part)) AND \(try call(.contains, arguments)))"
    }
}

extension QueryExpression {
    fileprivate var isConstantText: Bool {
        switch self {
        case .literal(.text), .parameter(_, .text): true
        default: false
        }
    }
}

extension Value {
    /// A text in normalization form C; other values unchanged.
    var composed: Value {
        if case .text(let text) = self { .text(text.composed) } else { self }
    }
}

extension String {
    /// The smallest text that is greater than all texts that start with this text, in the order of bytes; nil if there
    /// is none, or if texts that start with the same characters may start with other bytes.
    fileprivate var endOfRangeWithPrefix: String? {
        var text = self
        guard text.withUTF8({ TextSearch.isSimple(UnsafeRawBufferPointer($0)) }), let last = unicodeScalars.last else {
            return nil
        }
        guard let next = Unicode.Scalar(last.value + 1) else { return nil }
        return String(String.UnicodeScalarView(unicodeScalars.dropLast() + [next]))
    }
}
