import Guarded
import Testing

@Suite struct BoundedCacheTests {
    struct Refusal: Error {}

    @Test func `a new value takes the place of the one unused for longest`() {
        var cache = BoundedCache<String, Int>(limit: 2)
        #expect(cache.insert(1, for: "a") == nil)
        #expect(cache.insert(2, for: "b") == nil)
        #expect(cache.value(for: "a") == 1)
        #expect(cache.insert(3, for: "c") == 2)
        #expect(cache.value(for: "b") == nil)
        #expect(cache.value(for: "a") == 1)
        #expect(cache.count == 2)
    }

    @Test func `a value for a known key replaces the earlier one and removes no other`() {
        var cache = BoundedCache<String, Int>(limit: 2)
        cache.insert(1, for: "a")
        cache.insert(2, for: "b")
        #expect(cache.insert(3, for: "a") == nil)
        #expect(cache.value(for: "a") == 3)
        #expect(cache.value(for: "b") == 2)
    }

    @Test func `values that may not be removed stay, beyond the limit if need be`() {
        var cache = BoundedCache<String, Int>(limit: 2)
        cache.insert(1, for: "a")
        cache.insert(2, for: "b")
        #expect(cache.insert(3, for: "c", removingWhere: { $0 == 2 }) == 2)
        #expect(cache.insert(4, for: "d", removingWhere: { _ in false }) == nil)
        #expect(cache.count == 3)
    }

    @Test func `a shared cache makes a value once, and none if that throws`() throws {
        let cache = Guarded(BoundedCache<Int, String>(limit: 4))
        var count = 0
        func make() throws -> String {
            count += 1
            if count == 1 { throw Refusal() }
            return "value"
        }
        #expect(throws: Refusal.self) { _ = try cache.value(for: 1, make: make) }
        for _ in 0..<3 {
            let value = try cache.value(for: 1, make: make)
            #expect(value == "value")
        }
        #expect(count == 2)
    }
}
