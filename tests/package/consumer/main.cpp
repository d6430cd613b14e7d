// The smallest program that takes a lock, as it would stand in somebody else's repository.
#include <holdfast/holdfast.hpp>

#include <cstdio>

namespace {

int fail(const char* what) {
  std::fprintf(stderr, "consumer: %s\n", what);
  return 1;
}

}  // namespace

int main() {
  auto client = holdfast::connect("memory:package");
  if (!client) return fail("connect failed");
  auto hold = client->mutex("a").acquire();
  if (!hold) return fail("acquire failed");
  if (!hold->valid()) return fail("the hold is not valid");
  if (!hold->release()) return fail("release failed");
  std::puts("consumer: acquired and released");
  return 0;
}
