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
        init(title: String) { self.title = title }
    #else
        init() {}
    #endif
}
