import CSQLCipher

/// A collation, implemented in Swift, by which statements can sort and compare texts.
package struct Collation: Sendable {
    /// The name in statements.
    let name: String
    /// Compares the UTF-8 of two texts: a negative number, 0 or a positive number.
    let compare: @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int

    /// Creates a collation.
    package init(
        _ name: String,
        compare: @escaping @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int
    ) {
        self.name = name
        self.compare = compare
    }
}

extension Collation {
    /// Registers the collation for the statements of a connection. If SQLite refuses it, statements that need it fail.
    func register(on handle: OpaquePointer) {
        let order = Unmanaged.passRetained(Order(compare))
        let code = sqlite3_create_collation_v2(
            handle,
            name,
            SQLITE_UTF8,
            order.toOpaque(),
            { order, leftCount, left, rightCount, right in
                guard let order else { return 0 }
                return Int32(
                    clamping: Unmanaged<Order>.fromOpaque(order).takeUnretainedValue().compare(
                        UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
                        UnsafeRawBufferPointer(start: right, count: Int(rightCount))
                    )
                )
            },
            { order in
                guard let order else { return }
                Unmanaged<Order>.fromOpaque(order).release()
            }
        )
        // Unlike a function, a collation that SQLite refuses is not released by SQLite.
        if code != SQLITE_OK { order.release() }
    }
}

/// The box that SQLite holds a pointer to for each collation.
private final class Order {
    let compare: @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int

    init(_ compare: @escaping @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int) {
        self.compare = compare
    }
}
