#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>

namespace holdfast::test {

// A T that several processes see, all zeros at first.
template <class T>
class SharedPage {
 public:
  struct Make {};
  SharedPage(const std::string& path, Make) : SharedPage(path, O_RDWR | O_CREAT | O_EXCL) {}
  explicit SharedPage(const std::string& path) : SharedPage(path, O_RDWR) {}
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  ~SharedPage() { ::munmap(page_, sizeof(T)); }

  T& operator*() const { return *page_; }
  T* operator->() const { return page_; }

 private:
  SharedPage(const std::string& path, int flags) {
    const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(T)) != 0) throw std::runtime_error("no shared page");
    void* const page = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (page == MAP_FAILED) throw std::runtime_error("no shared page");
    page_ = static_cast<T*>(page);
  }

  T* page_;
};

}  // namespace holdfast::test
