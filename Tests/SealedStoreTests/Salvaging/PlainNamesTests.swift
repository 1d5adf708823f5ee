@testable import SealedStore
import Testing

@Suite struct PlainNamesTests {
    @Test(arguments: [
        (["name", "other"], "name", true),
        (["name"], "name_2", false),
        (["name", "Name"], "name", false),
        (["name", "name_2"], "name", true),
        (["name", "name_2"], "name_2", false),
        (["name", "NAME_2_3"], "name_2_3", false),
        (["name_2"], "name_2", true),
        (["name2", "name"], "name2", true),
        (["_2"], "_2", true),
    ])
    func `a name is plain if no other declaration can have it`(declared: [String], name: String, isPlain: Bool) {
        #expect(PlainNames(declared).contain(name) == isPlain)
    }
}
