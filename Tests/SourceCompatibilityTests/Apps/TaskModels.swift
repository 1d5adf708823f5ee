import SealedData

// In the style of task lists and journals.

typealias TaskItem = TaskSchemaV2.TaskItem
typealias TaskList = TaskSchemaV2.TaskList

enum TaskSchemaV1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [TaskItem.self, TaskList.self] }

    @Model final class TaskItem {
        var title: String = ""
        var list: TaskList?
        init(title: String) { self.title = title }
    }

    @Model final class TaskList {
        var name: String = ""
        @Relationship(deleteRule: .cascade, inverse: \TaskItem.list) var items: [TaskItem]? = []
        init(name: String) { self.name = name }
    }
}

enum TaskSchemaV2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [TaskItem.self, TaskList.self] }

    @Model final class TaskItem: Titled, Dated, Identifiable, Codable, Comparable {
        #Index<TaskItem>([\.title], [\.created, \.priority])
        #Unique<TaskItem>([\.identifier])

        var identifier: UUID = UUID()
        var title: String = ""
        var created: Date = Date.now
        var dueDate: Date?
        var priority: Priority = Priority.normal
        var tags: [String] = []
        var place: Place?
        var reminders: Set<Date> = []
        var list: TaskList?
        @Attribute(.externalStorage) var attachment: Data?
        @Attribute(originalName: "isDone") var isCompleted: Bool = false {
            didSet { completionDate = isCompleted ? .now : nil }
        }
        private(set) var completionDate: Date?

        enum Priority: Int, Codable, CaseIterable, Comparable {
            case low = 0
            case normal = 1
            case high = 2
            static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
        }

        struct Place: Codable, Hashable {
            var latitude: Double
            var longitude: Double
            var name: String?
        }

        init(title: String, list: TaskList? = nil, priority: Priority = .normal) {
            self.title = title
            self.list = list
            self.priority = priority
        }

        enum CodingKeys: CodingKey { case title, tags }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            title = try container.decode(String.self, forKey: .title)
            tags = try container.decode([String].self, forKey: .tags)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(title, forKey: .title)
            try container.encode(tags, forKey: .tags)
        }

        static func < (left: TaskItem, right: TaskItem) -> Bool { left.title < right.title }
    }

    @Model final class TaskList {
        @Attribute(.unique) var name: String = ""
        var color: String = "blue"
        @Relationship(deleteRule: .cascade, inverse: \TaskItem.list) var items: [TaskItem]? = []
        init(name: String) { self.name = name }

        var open: [TaskItem] { (items ?? []).filter { !$0.isCompleted }.sorted() }
    }
}

enum TaskMigrationPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [TaskSchemaV1.self, TaskSchemaV2.self] }
    static var stages: [MigrationStage] {
        [.lightweight(fromVersion: TaskSchemaV1.self, toVersion: TaskSchemaV2.self)]
    }
}
