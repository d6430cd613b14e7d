#include "runtime/fork_word.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <new>

namespace holdfast::runtime {
namespace {

using Word = std::atomic<std::uint64_t>;

// Where the word lies; null before the first enter(). Kept by children, as is the page's address.
std::atomic<Word*> word_at{nullptr};

// The newest generation, in ordinary memory: a child inherits it and counts on from there. It grows
// before the generation is used, so whatever moment a fork picks, the child knows of it.
std::atomic<std::uint64_t> newest{0};

Word* make_wiped_page() noexcept {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, size, MADV_WIPEONFORK) == 0) return ::new (page) Word(0);
  munmap(page, size);
  return nullptr;
}

// For kernels before 4.14 and emulators that do not know the advice.
Word* make_word_wiped_by_libc() noexcept {
  static Word word{0};
  static int registered =
      pthread_atfork(nullptr, nullptr, [] { word.store(0, std::memory_order_relaxed); });
  static_cast<void>(registered);
  return &word;
}

Word& word() noexcept {
  static Word* made = [] {
    Word* page = make_wiped_page();
    if (page == nullptr) page = make_word_wiped_by_libc();
    word_at.store(page, std::memory_order_release);
    return page;
  }();
  return *made;
}

}  // namespace

std::uint64_t ForkWord::enter() noexcept {
  Word& current = word();
  std::uint64_t generation = current.load(std::memory_order_relaxed);
  while (generation == 0) {
    const std::uint64_t fresh = newest.fetch_add(1, std::memory_order_relaxed) + 1;
    if (current.compare_exchange_strong(generation, fresh, std::memory_order_relaxed)) {
      generation = fresh;
    }
  }
  return generation;
}

bool ForkWord::is_current(std::uint64_t generation) noexcept {
  const Word* current = word_at.load(std::memory_order_acquire);
  return generation != 0 && current != nullptr &&
         current->load(std::memory_order_relaxed) == generation;
}

}  // namespace holdfast::runtime
