/// What ends the demo.
enum DemoError: Error, CustomStringConvertible {
    /// There is something at the path where the store was to be made.
    case storeExists(path: String)
    /// The path of the store cannot be a file.
    case storeIsNoFile(path: String)
    /// The input holds no package, though it is not empty.
    case noPackages
    /// A wrong passphrase opened the store.
    case wrongPassphraseAccepted
    /// The file changed while a wrong passphrase was tried.
    case fileChanged
    /// The reopened store has not what was saved.
    case countDiffers(saved: Int, found: Int)
    /// The file holds a stored text in the clear.
    case readable(String)

    var description: String {
        switch self {
        case .storeExists(let path): "'\(path)' exists; choose another path, or replace it with --replace"
        case .storeIsNoFile(let path): "'\(path)' is a folder, not a file"
        case .noPackages: "there is no package in the input"
        case .wrongPassphraseAccepted: "a wrong passphrase opened the store"
        case .fileChanged: "trying a wrong passphrase changed the file"
        case .countDiffers(let saved, let found): "\(saved) packages were saved, but \(found) are in the store"
        case .readable(let text): "the file holds '\(text)' in the clear"
        }
    }
}
