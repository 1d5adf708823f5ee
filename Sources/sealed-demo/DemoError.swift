/// An error that ends the demo.
enum DemoError: Error, CustomStringConvertible {
    /// A file exists at the path of the store.
    case storeExists(path: String)
    /// The path of the store is a folder.
    case storeIsNoFile(path: String)
    /// The input is not empty but contains no package.
    case noPackages
    /// A wrong passphrase opened the store.
    case wrongPassphraseAccepted
    /// The file changed while a wrong passphrase was tried.
    case fileChanged
    /// The reopened store does not contain all saved packages.
    case countDiffers(saved: Int, found: Int)
    /// The file contains a stored text as plaintext.
    case readable(String)

    var description: String {
        switch self {
        case .storeExists(let path): "'\(path)' exists; choose another path, or replace it with --replace"
        case .storeIsNoFile(let path): "'\(path)' is a folder, not a file"
        case .noPackages: "the input contains no package"
        case .wrongPassphraseAccepted: "a wrong passphrase opened the store"
        case .fileChanged: "trying a wrong passphrase changed the file"
        case .countDiffers(let saved, let found): "\(saved) packages were saved, but \(found) are in the store"
        case .readable(let text): "the file contains '\(text)' as plaintext"
        }
    }
}
