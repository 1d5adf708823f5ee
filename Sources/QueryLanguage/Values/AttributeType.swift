import Foundation

/// The type of an attribute, which determines its values and their stored form.
public enum AttributeType: String, Codable, CaseIterable, Sendable {
    // `facts` is the table of types: a row states what is true of a type, and everything else follows from it.
    //
    // To add a type, add a case. The compiler then names the row, and the number of the file format in `StoreFormat`:
    // older programs must refuse a file with a column that they do not know. What the compiler does not name:
    //
    // 1. The conformance of the Swift type to `StorableValue`. The stored form keeps a value bit for bit, or refuses it
    //    with `UnstorableValue`. Values sort and compare by their stored form.
    // 2. The form. A type with the form of another type is written and read as that type, in JSON lines, CSV, snapshots,
    //    plain SQL and conversions. Only a new `Form` makes the compiler name these places.
    // 3. `AggregatedValue` in `SealedData`, and `SummedValue` or `AveragedValue`; `ColumnTypeTests` fails without them.
    // 4. A Swift type that was `Codable` before is JSON text in existing stores, which are migrated: `isPlainInJSON` says
    //    how the text is read, and the change log says which values the migration refuses.
    // 5. `PlainValueType` of the macros, only if no program can have a model class of that name.
    // 6. The tests: values at the limits in `AttributeTests`, `ReferenceConversion`, `Harbour` and `FixtureModel`, which
    //    the compiler or a failing test names. The articles `DeclaringModels.md`, `FileFormat.md` and
    //    `PredicateFormats.md`.

    case int8, int16, int32, int64
    case uint8, uint16, uint32, uint64
    case bool
    case float, double
    case decimal
    case string
    case date
    /// A `Duration`, as a whole number of nanoseconds.
    case duration
    case uuid
    case url
    case data
    /// Any other `Codable` value, stored as JSON text.
    case composite

    /// A storage class.
    public enum Storage: String, Codable, CaseIterable, Sendable {
        case integer, real, text, blob
    }

    /// The form of stored values: how they are stored, and how they are written as text and read from it.
    ///
    /// Whatever reads or writes values switches over the forms, without `default:`. A type with the form of another type
    /// therefore needs no code, and the compiler names each place that a new form needs.
    package enum Form: Hashable, Sendable {
        /// Integers in a range.
        case integer(ClosedRange<Int64>)
        /// Unsigned 64-bit integers by their bits: those from 2⁶³ on are stored as negative integers.
        case unsigned
        /// 0 or 1.
        case boolean
        /// Reals that a `Float` holds.
        case float
        case double
        /// Exact decimal numbers, see ``SortableDecimal``.
        case decimal
        case text
        case url
        /// Reals: seconds since 2001.
        case date
        case uuid
        case bytes
        /// JSON text.
        case json
    }
}

extension AttributeType {
    /// A row of the table of types.
    package struct Facts {
        /// The Swift type whose ``StorableValue/storedValue`` is the stored form; nil for composite values.
        package let swiftType: (any StorableValue.Type)?
        package let form: Form
        /// The description of a value in messages.
        package let description: String
        /// Whether the values are numbers: calculations take them, conversions change them to other numbers.
        package let isNumber: Bool
        /// The name in `CAST` of predicate formats, without `NS`, in addition to the raw value.
        package let castName: String?
        /// Whether `Codable` writes the Swift type into JSON as its form has it: a number, a text or a Boolean.
        package let isPlainInJSON: Bool

        fileprivate init(
            _ swiftType: (any StorableValue.Type)?,
            _ form: Form,
            _ description: String,
            isNumber: Bool = false,
            castName: String? = nil,
            isPlainInJSON: Bool = true
        ) {
            self.swiftType = swiftType
            self.form = form
            self.description = description
            self.isNumber = isNumber
            self.castName = castName
            self.isPlainInJSON = isPlainInJSON
        }

        fileprivate static func integer<I: FixedWidthInteger & StorableValue>(_ type: I.Type) -> Facts {
            let range = Int64(truncatingIfNeeded: I.min)...Int64(truncatingIfNeeded: I.max)
            return Facts(type, .integer(range), "an integer", isNumber: true)
        }
    }

    /// The row of the type.
    package var facts: Facts {
        switch self {
        case .int8: .integer(Int8.self)
        case .int16: .integer(Int16.self)
        case .int32: .integer(Int32.self)
        case .int64: .integer(Int64.self)
        case .uint8: .integer(UInt8.self)
        case .uint16: .integer(UInt16.self)
        case .uint32: .integer(UInt32.self)
        case .uint64: Facts(UInt64.self, .unsigned, "an unsigned integer", isNumber: true)
        case .bool: Facts(Bool.self, .boolean, "a Boolean")
        case .float: Facts(Float.self, .float, "a number", isNumber: true)
        case .double: Facts(Double.self, .double, "a number", isNumber: true, castName: "Number")
        case .decimal: Facts(Decimal.self, .decimal, "a decimal number", isNumber: true, castName: "DecimalNumber")
        case .string: Facts(String.self, .text, "text", castName: "String")
        case .date: Facts(Date.self, .date, "a date", castName: "Date")
        // Its form in JSON is a list of two integers, which count attoseconds.
        case .duration:
            Facts(Duration.self, .integer(.min ... .max), "a duration", castName: "Duration", isPlainInJSON: false)
        case .uuid: Facts(UUID.self, .uuid, "a UUID", castName: "UUID")
        case .url: Facts(URL.self, .url, "a URL", castName: "URL")
        case .data: Facts(Data.self, .bytes, "data", castName: "Data")
        case .composite: Facts(nil, .json, "a composite value")
        }
    }
}

// MARK: What follows

extension AttributeType {
    /// The form of stored values.
    package var form: Form { facts.form }

    /// The storage class of the values.
    public var storage: Storage { form.storage }

    /// The range of the integers of the type; nil for 64-bit integers, and for other types.
    public var integerRange: ClosedRange<Int64>? {
        switch form {
        case .integer(let range): range == .min ... .max ? nil : range
        case .boolean: 0...1
        case .unsigned, .float, .double, .decimal, .text, .url, .date, .uuid, .bytes, .json: nil
        }
    }

    /// Whether the values are numbers.
    package var isNumber: Bool { facts.isNumber }

    /// Whether the values are whole numbers.
    package var isInteger: Bool { isNumber && storage == .integer }

    /// Whether values can be added up.
    package var isSummable: Bool {
        switch form {
        case .integer, .unsigned, .boolean, .float, .double, .decimal, .date: true
        case .text, .url, .uuid, .bytes, .json: false
        }
    }

    /// The type of a sum of values.
    package var sumType: AttributeType {
        switch form {
        // The sum of quantities is such a quantity.
        case .integer: isNumber ? .int64 : self
        case .unsigned, .boolean, .text, .url, .uuid, .bytes, .json: .int64
        case .float, .double, .date: .double
        case .decimal: self
        }
    }

    /// The type of an average of values.
    package var averageType: AttributeType {
        switch form {
        case .integer: isNumber ? .double : self
        case .decimal, .date: self
        case .unsigned, .boolean, .float, .double, .text, .url, .uuid, .bytes, .json: .double
        }
    }

    /// Whether values have an order.
    package var isOrdered: Bool {
        switch form {
        case .boolean, .json: false
        case .integer, .unsigned, .float, .double, .decimal, .text, .url, .date, .uuid, .bytes: true
        }
    }

    /// Whether values are stored as integers or reals of the same value, and are compared with other such numbers.
    package var isPlainNumber: Bool {
        switch form {
        case .integer, .float, .double: isNumber
        case .boolean: true
        case .unsigned, .decimal, .text, .url, .date, .uuid, .bytes, .json: false
        }
    }

    /// Whether a store compares the values as numbers. Large unsigned integers are stored as negative integers.
    package var isCoordinate: Bool {
        switch form {
        case .integer, .float, .double, .date: true
        case .unsigned, .boolean, .decimal, .text, .url, .uuid, .bytes, .json: false
        }
    }

    /// Whether a length of the values is meaningful: characters of a text, bytes of data.
    package var hasLength: Bool {
        switch form {
        case .text, .url, .bytes, .json: true
        case .integer, .unsigned, .boolean, .float, .double, .decimal, .date, .uuid: false
        }
    }

    /// Whether an attribute of the type cannot hold all values of its storage class, see
    /// ``Value/isRepresentable(as:)``. SQLite stores NaN as NULL, which no type of reals can hold.
    package var restrictsStoredValues: Bool {
        switch form {
        case .integer: integerRange != nil
        case .boolean, .float, .decimal, .url, .uuid, .json: true
        case .unsigned, .double, .text, .date, .bytes: false
        }
    }
}

extension AttributeType.Form {
    /// The storage class of the values.
    package var storage: AttributeType.Storage {
        switch self {
        case .integer, .unsigned, .boolean: .integer
        case .float, .double, .date: .real
        case .text, .url, .json: .text
        case .decimal, .uuid, .bytes: .blob
        }
    }
}
