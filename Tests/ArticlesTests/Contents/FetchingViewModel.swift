// swift-format-ignore-file
import Foundation
import SealedData

/// The first version: the view model fetches after each insertion.
enum Fetching {
    /// 永続化情報を返すRepository
    @ModelActor
    actor ContentRepository {
        /// 全ての永続化情報を返す関数
        func fetchAll() async -> [ContentEntity] {
            let fetchDescriptor = FetchDescriptor<ContentModel>()
            let models = try? modelContext.fetch(fetchDescriptor)
            guard let models else { return [] }
            return models.map {
                ContentEntity(
                    id: $0.id,
                    title: $0.title
                )
            }
        }
        /// 新しいcontentを永続化する処理
        func insertContent(contentEntity: ContentEntity) async {
            let model = ContentModel(
                id: contentEntity.id,
                title: contentEntity.title
            )
            modelContext.insert(model)
            // `hasChange` in the article's first version, `hasChanges` in the second.
            guard modelContext.hasChanges else { return }
            try? modelContext.save()
        }
    }

    @MainActor
    @Observable
    final class ContentViewModel {
        let contentRepository = ContentRepository(modelContainer: ModelContainerManager.shared.modelContainer)
        var contents = [ContentEntity]()
        init() {
            Task { await fetchContents() }
        }
        func insertContents() async {
            let contentEntity = ContentEntity(
                id: UUID(),
                title: Date().description
            )
            await contentRepository.insertContent(contentEntity: contentEntity)
            await fetchContents()
        }
        private func fetchContents() async {
            let contents = await contentRepository.fetchAll()
            self.contents = contents
        }
    }
}
