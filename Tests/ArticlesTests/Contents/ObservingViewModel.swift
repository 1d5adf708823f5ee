// swift-format-ignore-file
import Foundation
import SealedData

/// The second version: the repository posts a notification, upon which the view model fetches.
enum Observing {
    @MainActor
    @Observable
    final class ContentViewModel {
        @ObservationIgnored let contentRepository = ContentRepository(
            modelContainer: ModelContainerManager.shared.modelContainer
        )
        var cancellables = Set<AnyCancellable>()  // 追加
        var contents = [ContentEntity]()
        init() {
            observeContents()  // 追加
            Task { await fetchContents() }
        }
        func insertContents() async {
            let contentEntity = ContentEntity(
                id: UUID(),
                title: Date().description
            )
            await contentRepository.insertContent(contentEntity: contentEntity)
            // fetchContents関数を削除
        }
        /// 新規実装
        /// NotificationCenterの通知を購読し、fetchContentsメゾットを実行
        private func observeContents() {
            NotificationCenter.default.publisher(for: Notification.Name("shouldUpdateContents")).sink { [weak self] _ in
                Task { await self?.fetchContents() }
            }.store(in: &cancellables)
        }
        private func fetchContents() async {
            let contents = await contentRepository.fetchAll()
            self.contents = contents
        }
    }

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
            guard modelContext.hasChanges else { return }
            try? modelContext.save()
            // 追加
            NotificationCenter.default.post(
                name: Notification.Name("shouldUpdateContents"),
                object: nil
            )
        }
    }
}
