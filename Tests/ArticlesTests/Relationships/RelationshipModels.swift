// swift-format-ignore-file
import Foundation
import SealedData

// The article about the kinds of relationships and the delete rules.

@Model
class User {
    var name: String
    @Relationship(deleteRule: .cascade) var profile: Profile?
    init(name: String, profile: Profile? = nil) {
        self.name = name
        self.profile = profile
    }
}

@Model
class Profile {
    var age: Int
    var user: User?
    init(age: Int, user: User? = nil) {
        self.age = age
        self.user = user
    }
}

/// Named differently from Swift's `Task`, which other articles use.
enum Tasks {
    @Model
    class Category {
        var name: String
        @Relationship(deleteRule: .cascade) var tasks: [Task] = []
        init(name: String) {
            self.name = name
        }
    }

    @Model
    class Task {
        var title: String
        var category: Category?
        init(title: String, category: Category? = nil) {
            self.title = title
            self.category = category
        }
    }
}

@Model
class Student {
    var name: String
    @Relationship(deleteRule: .nullify) var courses: [Course] = []
    init(name: String) {
        self.name = name
    }
}

@Model
class Course {
    var title: String
    @Relationship(deleteRule: .nullify) var students: [Student] = []
    init(title: String) {
        self.title = title
    }
}

@Model
class Event {
    var eventId: UUID
    var eventName: String
    var tag: Tag?
    init(eventName: String, tag: Tag? = nil) {
        self.eventId = UUID()
        self.eventName = eventName
        self.tag = tag
    }
}

@Model
class Tag {
    var tagId: UUID
    var tagName: String
    var order: Int
    var event: [Event] = []
    init(tagName: String, order: Int) {
        self.tagId = UUID()
        self.tagName = tagName
        self.order = order
    }
}
