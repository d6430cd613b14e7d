#include "support/small_disk.hpp"

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace holdfast::test {

namespace {

constexpr char kSize[] = "size=1m";

}  // namespace

SmallDisk::SmallDisk(std::string folder) : folder_(std::move(folder)) {
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("none", folder_.c_str(), "tmpfs", 0, kSize) != 0) {
    problem_ = std::string("a small file system cannot be mounted: ") + std::strerror(errno);
  }
}

SmallDisk::~SmallDisk() {
  if (problem_.empty()) ::umount2(folder_.c_str(), MNT_DETACH);
}

void SmallDisk::fill() const {
  std::ofstream file(filler(), std::ios::app);
  const std::string page(4096, 'x');
  while (file.write(page.data(), 4096).flush()) {
  }
}

void SmallDisk::make_room() const { std::filesystem::remove(filler()); }

bool SmallDisk::make_read_only() const {
  return ::mount("none", folder_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, kSize) == 0;
}

}  // namespace holdfast::test
