import Foundation

/// Random numbers that are the same for the same seed.
///
/// A random test prints the generator. `SEED=N swift test --filter NAME` repeats the test with that seed.
package struct SeededGenerator: RandomNumberGenerator, CustomStringConvertible {
    package let seed: UInt64
    private var state: UInt64

    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// A generator with the seed of the environment variable `SEED`, or with a random seed.
    package init() { self.init(seed: Self.environmentSeed ?? UInt64.random(in: 1...UInt64.max)) }

    /// The seed of the environment variable `SEED`, or `count` random seeds after the ones that once found a defect.
    package static func seeds(_ count: Int, after regressions: [UInt64] = []) -> [UInt64] {
        if let environmentSeed { return [environmentSeed] }
        return regressions + (0..<count).map { _ in UInt64.random(in: 0..<10_000_000) }
    }

    private static let environmentSeed = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) }

    /// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns true in `percent` of 100 calls.
    package mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    /// Returns a random element, or nil if the collection is empty.
    package mutating func pick<C: Collection>(_ collection: C) -> C.Element? { collection.randomElement(using: &self) }

    package var description: String { "SEED=\(seed)" }
}
