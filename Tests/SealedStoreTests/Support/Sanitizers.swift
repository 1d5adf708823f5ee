import Foundation
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips tests that search the whole memory of the process where a sanitizer is linked in: those reserve terabytes of
    /// addresses for what they know of each byte, so that the search would practically never end.
    static var withoutSanitizer: Self {
        .disabled(if: isSanitized, "sanitizers reserve terabytes of addresses, which the test would search")
    }
}

/// Whether the thread or the address sanitizer is linked into the process.
private let isSanitized: Bool = {
    let process = dlopen(nil, RTLD_NOW)
    defer { if let process { dlclose(process) } }
    return dlsym(process, "__tsan_init") != nil || dlsym(process, "__asan_init") != nil
}()
