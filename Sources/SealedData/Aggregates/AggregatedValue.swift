public import Foundation
public import ObjectGraph

/// A property value that aggregates are computed from: a value of a basic type or an optional one. Aggregates ignore
/// nil.
public protocol AggregatedValue {
    /// The type without the optional.
    associatedtype Base: StorableValue
}

extension AggregatedValue where Self: StorableValue {
    /// The type itself.
    public typealias Base = Self
}

extension Optional: AggregatedValue where Wrapped: StorableValue {
    /// The type of the values.
    public typealias Base = Wrapped
}

/// A value whose average can be computed.
public protocol AveragedValue: StorableValue {
    /// The type of the average.
    associatedtype Average: StorableValue = Double
}

/// A value that can be added up.
public protocol SummedValue: AveragedValue {
    /// The type of the sum. For all integer types it is `Int`.
    associatedtype Sum: StorableValue

    /// The sum of no values.
    static var sumOfNone: Sum { get }
}

extension SummedValue where Self: FixedWidthInteger {
    /// The sum of no values.
    public static var sumOfNone: Int { 0 }
}

extension SummedValue where Self: BinaryFloatingPoint {
    /// The sum of no values.
    public static var sumOfNone: Double { 0 }
}

extension Int: AggregatedValue, SummedValue {}
extension Int8: AggregatedValue, SummedValue {}
extension Int16: AggregatedValue, SummedValue {}
extension Int32: AggregatedValue, SummedValue {}
extension Int64: AggregatedValue, SummedValue {}
extension UInt: AggregatedValue, SummedValue {}
extension UInt8: AggregatedValue, SummedValue {}
extension UInt16: AggregatedValue, SummedValue {}
extension UInt32: AggregatedValue, SummedValue {}
extension UInt64: AggregatedValue, SummedValue {}
extension Float: AggregatedValue, SummedValue {}
extension Double: AggregatedValue, SummedValue {}
extension CGFloat: AggregatedValue, SummedValue {}
#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
    extension Float16: AggregatedValue, SummedValue {}
#endif

extension Decimal: AggregatedValue, SummedValue {
    /// The type of the average, which is rounded to 38 digits.
    public typealias Average = Decimal

    /// The sum of no values.
    public static var sumOfNone: Decimal { 0 }
}

extension Duration: AggregatedValue, SummedValue {
    /// The type of the average, which is rounded to a nanosecond.
    public typealias Average = Duration

    /// The sum of no values.
    public static var sumOfNone: Duration { .zero }
}

extension Date: AggregatedValue, AveragedValue {
    /// The type of the average.
    public typealias Average = Date
}

extension Bool: AggregatedValue {}
extension String: AggregatedValue {}
extension UUID: AggregatedValue {}
extension URL: AggregatedValue {}
extension Data: AggregatedValue {}
