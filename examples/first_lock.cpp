// Takes a lock, does what only one process at a time may do, and gives the lock back.
//
//   first_lock [URL]      the store to use; memory: if none is given, to have a look
#include <chrono>
#include <holdfast/holdfast.hpp>
#include <iostream>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  // One client per process and store is enough: use it from any thread.
  const auto client = holdfast::connect(argc > 1 ? argv[1] : "memory:");
  if (!client) {
    std::cerr << client.error().text() << '\n';
    return 1;
  }

  // Waits for five seconds at the most. While we have the lock it is renewed in the background; should
  // this process die, it is free again after its lease.
  auto hold = client->mutex("orders/42").acquire({.wait = 5s, .reason = "nightly invoices"});
  if (!hold) {
    // timed_out and busy are "no", and the text says who has the lock. unknown is "no idea": the store
    // did not answer, and may think for one lease that we hold it.
    std::cerr << hold.error().text() << '\n';
    return 75;  // try again later
  }

  // A process can be stopped at any moment and go on much later, when another has the lock. Send the
  // fence with each write; a database that refuses smaller ones than it has seen is safe from that.
  const auto fence = hold->fence().value();
  for (int invoice = 1; invoice <= 3 && hold->valid(); ++invoice) {
    std::cout << "invoice " << invoice << " under fence " << fence << '\n';
  }

  // The destructor would release it as well, but nobody would hear whether it was ours to the end.
  if (const auto released = hold->release(); !released) {
    std::cerr << released.error().text() << '\n';
    return 80;
  }
  return 0;
}
