import SealedData

// Properties that depend on the build.

@Model final class Document {
    var title = ""
    #if COMPATIBILITY
        var pages = 1
        #if !COMPATIBILITY
            var never = 0
        #else
            @Attribute(.unique) var code = "c"
        #endif
    #else
        var words = 0.5
    #endif
    var isOpen = true
    #if COMPATIBILITY
        @Attribute(originalName: "writer")
    #endif
    var author = ""
    #if canImport(SealedData)
        @Transient
    #endif
    var draft = ""
    #if !COMPATIBILITY
        @Transient
    #endif
    var note = ""
    #if canImport(Foundation)
        #Index<Document>([\.title])
    #endif

    #if COMPATIBILITY
        init(title: String) { self.title = title }
    #else
        init() {}
    #endif
}

#if COMPATIBILITY
    @Model
#endif
final class Folder {
    #Unique<Folder>([\.name])
    @Attribute(.externalStorage) var icon: Data?
    var name = ""
    init() {}
}
