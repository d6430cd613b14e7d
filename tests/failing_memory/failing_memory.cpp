#include "failing_memory/failing_memory.hpp"

#include <sqlite3.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace holdfast::test {
namespace {

std::atomic<int> left_of_all{0};  // 0: none fails
thread_local int left_here = 0;
std::atomic<int> last_ones{1};  // of those that are left so many fail
std::atomic<bool> one_failed{false};

bool fails_now() {
  const bool here = left_here > 0 && --left_here < last_ones;
  const bool of_all = left_of_all.load(std::memory_order_relaxed) > 0 && --left_of_all < last_ones;
  if (here || of_all) one_failed = true;
  return here || of_all;
}

sqlite3_mem_methods usual;  // SQLite's own

void* sqlite_malloc(int size) { return fails_now() ? nullptr : usual.xMalloc(size); }
void* sqlite_realloc(void* old, int size) {
  return fails_now() ? nullptr : usual.xRealloc(old, size);
}

}  // namespace

FailingMemory::FailingMemory(int n, Whose whose, int in_a_row) {
  one_failed = false;
  last_ones = in_a_row;
  if (whose == Whose::all_threads) {
    left_of_all = n + in_a_row - 1;
  } else {
    left_here = n + in_a_row - 1;
  }
}

void FailingMemory::stop() { left_here = left_of_all = 0; }

bool FailingMemory::failed() const { return one_failed; }

void let_sqlite_fail() {
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual);
  sqlite3_mem_methods ours = usual;
  ours.xMalloc = &sqlite_malloc;
  ours.xRealloc = &sqlite_realloc;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
}

}  // namespace holdfast::test

// ---- operator new: all other forms of it come to these ----

void* operator new(std::size_t size) {
  if (holdfast::test::fails_now()) throw std::bad_alloc();
  if (void* const memory = std::malloc(size != 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}

void* operator new(std::size_t size, std::align_val_t alignment) {
  if (holdfast::test::fails_now()) throw std::bad_alloc();
  const auto step = static_cast<std::size_t>(alignment);
  if (void* const memory = std::aligned_alloc(step, (size + step - 1) / step * step)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
