import CSQLCipher

/// An order of texts, written in Swift, that statements can sort and compare by.
package struct Collation: Sendable {
    /// The name in statements.
    let name: String
    /// Compares the UTF-8 of two texts: a negative number, 0 or a positive number.
    let compare: @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int

    /// Makes an order.
    package init(
        _ name: String,
        compare: @escaping @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int
    ) {
        self.name = name
        self.compare = compare
    }
}

extension Collation {
    /// Makes the order known to the statements of a connection. If SQLite does not take it, the statement that needs it fails.
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
        // Unlike a function's, SQLite does not release the order of a collation that it does not take.
        if code != SQLITE_OK { order.release() }
    }
}

/// What SQLite is given a pointer to for each order.
private final class Order {
    let compare: @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int

    init(_ compare: @escaping @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int) {
        self.compare = compare
    }
}
