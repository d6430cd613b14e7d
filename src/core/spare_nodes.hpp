#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define HOLDFAST_WATCHED_ADDRESSES
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOLDFAST_WATCHED_ADDRESSES
#endif
#endif

namespace holdfast::core {

// Memory for the nodes of an engine's maps. Each acquire and each release puts a dozen of them in and
// takes them out again: what was given back is kept for the next of about that size, up to kKept of
// each.
//
// Threads      One at a time.
class SpareNodes final : public std::pmr::memory_resource {
 public:
  SpareNodes() = default;
  SpareNodes(const SpareNodes&) = delete;
  SpareNodes& operator=(const SpareNodes&) = delete;
  ~SpareNodes() override {
    for (Spares& spares : spares_) {
      while (spares.first != nullptr) ::operator delete(take(spares));
    }
  }

 private:
  struct Spare {
    Spare* next;
  };
  struct Spares {
    Spare* first = nullptr;
    std::size_t count = 0;
  };
  static constexpr std::size_t kStep = 64;
  static constexpr std::size_t kClasses = 33;  // up to 2 KiB
  static constexpr std::size_t kKept = 64;

  // 0: not worth keeping. An address sanitizer should see each node come and go.
  static std::size_t class_of(std::size_t bytes, std::size_t alignment) {
#ifdef HOLDFAST_WATCHED_ADDRESSES
    static_cast<void>(bytes);
    static_cast<void>(alignment);
    return 0;
#else
    const std::size_t size_class = (bytes + kStep - 1) / kStep;
    const bool usual = alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
    return usual && size_class < kClasses ? size_class : 0;
#endif
  }

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    const std::size_t size_class = class_of(bytes, alignment);
    if (size_class == 0) return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    Spares& spares = spares_[size_class];
    const std::size_t size = size_class * kStep;
    return spares.first != nullptr ? take(spares) : ::operator new(size);
  }

  static void* take(Spares& spares) {
    Spare* const found = spares.first;
    spares.first = found->next;
    --spares.count;
    return found;
  }

  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    const std::size_t size_class = class_of(bytes, alignment);
    if (size_class == 0) {
      std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
      return;
    }
    Spares& spares = spares_[size_class];
    if (spares.count == kKept) return ::operator delete(memory);
    spares.first = new (memory) Spare{spares.first};
    ++spares.count;
  }

  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::array<Spares, kClasses> spares_{};
};

}  // namespace holdfast::core
