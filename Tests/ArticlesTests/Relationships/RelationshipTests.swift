import Foundation
import SealedData
import Testing

@Suite("The article about kinds of relationships")
struct RelationshipTests {
    @Test func `one to one: both sides are set, and deleting the user deletes the profile`() throws {
        let container = try container(for: User.self, Profile.self)
        let context = ModelContext(container)
        let user = User(name: "u")
        context.insert(user)
        user.profile = Profile(age: 30)
        #expect(user.profile?.user === user)
        let other = User(name: "o", profile: Profile(age: 40))
        context.insert(other)
        #expect(other.profile?.user === other)
        context.insert(Profile(age: 50, user: User(name: "p")))
        try context.save()
        let saved = ModelContext(container)
        #expect(try saved.all(User.self).map { $0.profile?.age } == [30, 40, 50])
        #expect(try saved.all(Profile.self).map { $0.user?.name } == ["u", "o", "p"])
        context.delete(user)
        try context.save()
        let reader = ModelContext(container)
        #expect(try reader.all(Profile.self).map(\.age) == [40, 50])
        try reader.all(Profile.self).forEach(reader.delete)
        try reader.save()
        let left = ModelContext(container)
        #expect(try left.all(User.self).map { $0.profile?.age } == [nil, nil])
    }

    @Test func `one to many: both sides are set, and deleting the category deletes the tasks`() throws {
        let container = try container(for: Tasks.Category.self)
        let context = ModelContext(container)
        let (work, home) = (Tasks.Category(name: "work"), Tasks.Category(name: "home"))
        context.insert(work)
        context.insert(home)
        let task = Tasks.Task(title: "mail", category: work)
        #expect(work.tasks.map(\.title) == ["mail"])
        home.tasks.append(Tasks.Task(title: "cook"))
        #expect(home.tasks.first?.category === home)
        task.category = home
        #expect(work.tasks.isEmpty)
        try context.save()
        context.delete(home)
        try context.save()
        let reader = ModelContext(container)
        #expect(try reader.all(Tasks.Task.self).isEmpty)
        #expect(try reader.all(Tasks.Category.self).map(\.name) == ["work"])
    }

    @Test func `many to many: both sides are set, and deleting one side clears the other`() throws {
        let container = try container(for: Student.self)
        let context = ModelContext(container)
        let students = ["a", "b"].map { Student(name: $0) }
        let courses = ["x", "y"].map { Course(title: $0) }
        students.forEach(context.insert)
        students[0].courses = courses
        courses[1].students.append(students[1])
        try context.save()
        #expect(Set(courses[1].students.map(\.name)) == ["a", "b"])
        #expect(students[1].courses.map(\.title) == ["y"])
        context.delete(courses[0])
        context.delete(students[1])
        try context.save()
        let reader = ModelContext(container)
        #expect(try reader.all(Student.self).map { $0.courses.map(\.title) } == [["y"]])
        #expect(try reader.all(Course.self).map { $0.students.map(\.name) } == [["a"]])
    }
}

@Suite("The article's app of events and tags")
struct EventTests {
    private let container: ModelContainer
    private let modelContext: ModelContext

    init() throws {
        container = try ModelContainer(
            for: Event.self,
            Tag.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        modelContext = ModelContext(container)
    }

    /// The results of `@Query(sort: [SortDescriptor(\Tag.order)])`.
    private var tags: [Tag] {
        get throws { try modelContext.fetch(FetchDescriptor(sortBy: [SortDescriptor(\Tag.order)])) }
    }

    /// The line of each event in the app's list.
    private var lines: [String] {
        get throws {
            try modelContext.all(Event.self).map { event in
                if let name = event.tag?.tagName { "\(event.eventName): \(name)" } else { "\(event.eventName): タグなし" }
            }
        }
    }

    private func addTag(_ newTagName: String) throws {
        let tags = try tags
        let maxOrder = tags.isEmpty ? 0 : (tags.map { $0.order }.max() ?? 0) + 1
        let newTag = Tag(tagName: newTagName, order: maxOrder)
        modelContext.insert(newTag)
    }

    @Test func `tags have the order of their insertion`() throws {
        for name in ["c", "a", "b"] { try addTag(name) }
        #expect(try tags.map(\.tagName) == ["c", "a", "b"])
        #expect(try tags.map(\.order) == [0, 1, 2])
    }

    @Test func `an event shows the current name of its tag until the tag is deleted`() throws {
        try addTag("music")
        let tag = try #require(tags.first)
        modelContext.insert(Event(eventName: "concert", tag: tag))
        modelContext.insert(Event(eventName: "walk"))
        #expect(tag.event.map(\.eventName) == ["concert"])
        #expect(try lines == ["concert: music", "walk: タグなし"])
        tag.tagName = "noise"
        try? modelContext.save()
        #expect(try lines == ["concert: noise", "walk: タグなし"])
        modelContext.delete(tag)
        #expect(try lines == ["concert: タグなし", "walk: タグなし"])
        try modelContext.save()
        #expect(try tags.isEmpty)
        let reader = ModelContext(container)
        #expect(try reader.all(Event.self).map { $0.tag == nil } == [true, true])
    }

    @Test func `an event is deleted without its tag`() throws {
        try addTag("music")
        modelContext.insert(Event(eventName: "concert", tag: try tags.first))
        try modelContext.save()
        try modelContext.all(Event.self).forEach(modelContext.delete)
        try modelContext.save()
        #expect(try tags.map(\.tagName) == ["music"])
        #expect(try tags.first?.event.isEmpty == true)
    }
}
