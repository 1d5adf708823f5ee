// What an app gets with `import SealedData` alone, as it does with `import SwiftData`.

@_exported public import Foundation
@_exported public import Observation
