// swift-format-ignore-file
import Foundation
import SealedData

// The article about a repository behind a view model.

/// SwiftDataの永続化モデル
@Model final class ContentModel {
    @Attribute(.unique) var id: UUID
    var title: String
    init(id: UUID, title: String) {
        self.id = id
        self.title = title
    }
}

/// アクター境界を超えるためのSendableなクラス
struct ContentEntity: Sendable, Hashable {
    let id: UUID
    let title: String
}

/// modelContainerを管理するクラス
final class ModelContainerManager {
    static let shared = ModelContainerManager()
    let modelContainer: ModelContainer
    private init() {
        let schema = Schema([ContentModel.self])
        let modelConfiguration = ModelConfiguration(schema: schema, isStoredInMemoryOnly: false)
        modelContainer = try! ModelContainer(for: schema, configurations: modelConfiguration)
    }
}
