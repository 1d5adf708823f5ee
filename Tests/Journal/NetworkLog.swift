/// The announcements and acknowledgements of a writer of a network, one in a line: `try + 7` before it saves the
/// insertion of member 7, `did + 7` afterwards, and `-` for deletions.
package struct NetworkLog {
    /// Members that must be in the store.
    package private(set) var present: Set<Int64> = []
    /// Members in an unknown state, because the writer was killed before it acknowledged the save.
    package private(set) var open: Set<Int64> = []

    package init(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ")
            guard words.count == 3, let number = Int64(words[2]) else { continue }
            switch (words[0], words[1]) {
            case ("did", "+"): present.insert(number)
            case ("did", _): present.remove(number)
            case ("no", _): break
            default:
                open.insert(number)
                continue
            }
            open.remove(number)
        }
    }

    /// The lines before and after a save.
    package static func lines(_ step: NetworkWriter.Step) -> (before: String, after: String, failed: String)? {
        switch step {
        case .insert(let number): ("try + \(number)\n", "did + \(number)\n", "no + \(number)\n")
        case .delete(let number): ("try - \(number)\n", "did - \(number)\n", "no - \(number)\n")
        case .other: nil
        }
    }
}
