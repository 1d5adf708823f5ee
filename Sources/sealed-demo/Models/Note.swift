import SealedData

/// A line of the list that the demo watches.
@Model
final class Note {
    var text: String

    init(_ text: String) { self.text = text }
}
