#pragma once

#include <memory>
#include <string>

#include "transport/fd.hpp"

namespace holdfast::transport {

// A connected socket that never blocks, plain or with TLS around it.
//
// Threads      One thread that reads and one that writes, at the same time; hang_up() from any.
class Stream {
 public:
  enum class Went {
    well,   // some bytes, or nothing was asked for
    again,  // nothing now: poll for it, and when writing come back, also with nothing more to write
    wrong   // the end; nothing will come or go any more
  };

  explicit Stream(Fd fd) : fd_(std::move(fd)) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  int fd() const { return fd_.get(); }
  // Reads what is there, and appends it.
  virtual Went read(std::string& into) = 0;
  // Writes as much as goes, and removes it. TLS removes more than went.
  virtual Went write(std::string& from) = 0;
  // Whoever reads will find the end.
  void hang_up() const;

 private:
  Fd fd_;
};

std::unique_ptr<Stream> plain_stream(Fd);

}  // namespace holdfast::transport
