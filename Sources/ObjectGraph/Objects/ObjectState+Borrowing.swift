/// The references of a state, read without retaining them: reference counting would cost more than the rest of a loop
/// over many objects. The caller must use them at once, while no code can change the state.
extension UnsafeMutablePointer<ObjectState> {
    @inline(__always)
    var borrowedHandler: Unmanaged<FaultHandler>? {
        withUnsafeMutablePointer(to: &pointee.handler) {
            UnsafeRawPointer($0).load(as: Unmanaged<FaultHandler>?.self)
        }
    }

    @inline(__always)
    var borrowedChanges: Unmanaged<ObjectChanges>? {
        withUnsafeMutablePointer(to: &pointee.changes) {
            UnsafeRawPointer($0).load(as: Unmanaged<ObjectChanges>?.self)
        }
    }

    @inline(__always)
    var borrowedChunk: Unmanaged<RowChunk>? {
        withUnsafeMutablePointer(to: &pointee.chunk) {
            UnsafeRawPointer($0).load(as: Unmanaged<RowChunk>?.self)
        }
    }

    /// Calls `body` with the row, or with nil if the object has no row.
    @inline(__always)
    func borrowedRow<R>(_ body: (Row) -> R) -> R? {
        borrowedChunk?._withUnsafeGuaranteedRef { body(Row(chunk: $0, offset: pointee.rowOffset)) }
    }
}

extension Array where Element: AnyObject {
    /// An element that is not retained: the caller must use it at once.
    @inline(__always)
    func borrowed(at position: Int) -> Unmanaged<Element> {
        precondition(indices.contains(position), "there is no such element")
        return withUnsafeBytes {
            $0.load(fromByteOffset: position * MemoryLayout<Element>.stride, as: Unmanaged<Element>.self)
        }
    }
}
