import SealedData

// Models of apps that put them on the main actor.

@MainActor @Model class Album {
    var name: String
    let year: Int
    var rating = 0 {
        didSet { changes += 1 }
    }
    @Relationship(deleteRule: .cascade, inverse: \Track.album) var tracks: [Track] = []
    @Transient var changes = 0
    @Attribute(.ephemeral) var isPlaying = false

    init(name: String, year: Int) {
        self.name = name
        self.year = year
    }
}

@MainActor @Model final class Track {
    #Index<Track>([\.number])
    var number = 0
    var length: TimeInterval = 0
    var album: Album?
    init(number: Int) { self.number = number }
}

@MainActor @Model final class LiveAlbum: Album {
    var venue: String = ""

    init(name: String, venue: String) {
        super.init(name: name, year: 1999)
        self.venue = venue
    }
}

@MainActor @Model final class Jingle {
    var text = "la"
}
