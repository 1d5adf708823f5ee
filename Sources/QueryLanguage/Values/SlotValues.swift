public import Foundation

/// The values of a row, read by slot: each accessor names the type that the slot is read as.
///
/// A slot of another type is read as a meaningless number or an empty text, never as memory outside the row.
public protocol SlotValues {
    /// The integer in a slot; 0 for null.
    func integer(at slot: Int) -> Int64
    /// The real in a slot; 0 for null.
    func real(at slot: Int) -> Double
    /// The text in a slot; empty for other values.
    func text(at slot: Int) -> String
    /// The blob in a slot; empty for other values.
    func blob(at slot: Int) -> Data
    /// The UUID in a slot; all zeros unless the value has 16 bytes.
    func uuid(at slot: Int) -> UUID
    /// Calls `body` with the bytes of the text or blob in a slot; they are empty for other values.
    func withBytes<R>(at slot: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
}
