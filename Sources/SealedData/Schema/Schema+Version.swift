extension Schema {
    /// A version of a schema: three numbers, compared from the first to the last.
    public struct Version: Codable, Hashable, Comparable, Sendable, CustomStringConvertible {
        /// The number for changes in the meaning of the data.
        public let major: Int
        /// The number for additions.
        public let minor: Int
        /// The number for corrections.
        public let patch: Int

        /// Makes a version.
        public init(_ major: Int, _ minor: Int, _ patch: Int) {
            self.major = major
            self.minor = minor
            self.patch = patch
        }

        /// Whether the left version is older.
        public static func < (left: Version, right: Version) -> Bool {
            (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
        }

        /// The numbers, separated by dots, such as `1.0.0`.
        public var description: String { "\(major).\(minor).\(patch)" }
    }
}
