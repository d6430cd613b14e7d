// Changes a shared value without a lock: whoever was overtaken looks again and tries once more.
//
//   optimistic_update [URL]      the store to use; memory: if none is given, to have a look
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kSeats = 20;

// Books a seat, or tells that there is none: an error from the change leaves the value as it is. It may
// be called several times, so it does nothing but compute.
holdfast::Result<std::string> book(const holdfast::VersionedValue& now) {
  const int free = now.version == 0 ? kSeats : std::stoi(now.value);
  if (free == 0) return holdfast::Error(holdfast::Errc::cancelled, "booked out");
  return std::to_string(free - 1);
}

}  // namespace

int main(int argc, char** argv) {
  const auto client = holdfast::connect(argc > 1 ? argv[1] : "memory:");
  if (!client) {
    std::cerr << client.error().text() << '\n';
    return 1;
  }
  const holdfast::Versioned seats = client->versioned("flight/LH 400/free seats");

  // More buyers than seats, and none of them waits for another.
  int sold[4] = {};
  std::vector<std::thread> buyers;
  for (int& mine : sold) {
    buyers.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        const auto left = seats.update(book);
        if (left) ++mine;
      }
    });
  }
  for (std::thread& buyer : buyers) buyer.join();

  const auto now = seats.read();
  if (!now) {
    std::cerr << now.error().text() << '\n';
    return 1;
  }
  const int all = sold[0] + sold[1] + sold[2] + sold[3];
  std::cout << all << " seats sold, " << now->value << " left, version " << now->version << '\n';
  return now->value == "0" ? 0 : 1;
}
