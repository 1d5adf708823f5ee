public import Foundation

/// The values of a row, read by slot: each accessor names the type that the slot is read as.
///
/// A slot of another type is read as a meaningless number or an empty text, never as memory outside the row.
public protocol SlotValues {
    /// The integer in a slot; 0 where it is null.
    func integer(at slot: Int) -> Int64
    /// The real in a slot; 0 where it is null.
    func real(at slot: Int) -> Double
    /// The text in a slot; empty where it holds none.
    func text(at slot: Int) -> String
    /// The blob in a slot; empty where it holds none.
    func blob(at slot: Int) -> Data
    /// The UUID in a slot; all zeros where it holds no 16 bytes.
    func uuid(at slot: Int) -> UUID
    /// Calls `body` with the bytes of the text or blob in a slot; they are empty where it holds neither.
    func withBytes<R>(at slot: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
}
