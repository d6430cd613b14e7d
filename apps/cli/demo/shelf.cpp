#include "cli/demo/shelf.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "cli/refusal.hpp"

namespace holdfast::cli {
namespace {

[[noreturn]] void fail() {
  throw Refusal(exit_code::kOsError, std::string("the shelf's file: ") + std::strerror(errno));
}

Descriptor open_file(std::filesystem::path path, const char* ending, int flags) {
  Descriptor file(::open((path += ending).c_str(), O_RDWR | O_CLOEXEC | flags, 0600));
  if (!file) fail();
  return file;
}

void must_be(ssize_t count, std::size_t size) {
  if (count < 0) fail();
  if (static_cast<std::size_t>(count) != size) {
    throw Refusal(exit_code::kOsError, "the shelf's file is cut short");
  }
}

}  // namespace

void Shelf::make(const std::filesystem::path& path, std::int64_t units) {
  open_file(path, ".shelf", O_CREAT | O_EXCL);
  open_file(path, ".ledger", O_CREAT | O_EXCL);
  const ShelfRecord record{.units = units, .last = {}};
  const Shelf shelf(path);
  must_be(pwrite(shelf.record_.get(), &record, sizeof record, 0), sizeof record);
}

Shelf::Shelf(const std::filesystem::path& path)
    : record_(open_file(path, ".shelf", 0)), ledger_(open_file(path, ".ledger", O_APPEND)) {}

ShelfRecord Shelf::read() const {
  ShelfRecord record;
  must_be(pread(record_.get(), &record, sizeof record, 0), sizeof record);
  return record;
}

ShelfRecord Shelf::read_and_repair() const {
  const ShelfRecord record = read();
  struct stat status {};
  if (fstat(ledger_.get(), &status) != 0) fail();
  if (status.st_size / static_cast<off_t>(sizeof(Visit)) < record.visits) {
    must_be(::write(ledger_.get(), &record.last, sizeof record.last), sizeof record.last);
  }
  return record;
}

void Shelf::write(const ShelfRecord& record) const {
  must_be(pwrite(record_.get(), &record, sizeof record, 0), sizeof record);
  must_be(::write(ledger_.get(), &record.last, sizeof record.last), sizeof record.last);
}

std::uint64_t Shelf::write_fenced(const ShelfRecord& record) {
  const std::lock_guard threads(step_);
  if (flock(record_.get(), LOCK_EX) != 0) fail();
  const std::uint64_t greatest = read().last.fence;
  const bool stale = record.last.fence < greatest;
  if (!stale) write(record);
  flock(record_.get(), LOCK_UN);
  return stale ? greatest : 0;
}

std::vector<Visit> Shelf::ledger() const {
  std::vector<Visit> visits;
  Visit visit;
  for (off_t at = 0;; at += static_cast<off_t>(sizeof visit)) {
    const ssize_t count = pread(ledger_.get(), &visit, sizeof visit, at);
    if (count < 0) fail();
    if (static_cast<std::size_t>(count) < sizeof visit) return visits;
    visits.push_back(visit);
  }
}

}  // namespace holdfast::cli
