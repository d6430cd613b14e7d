#include "torture/scene.hpp"

#include <utility>

#include "support/temp_folder.hpp"

namespace holdfast::torture {
namespace {

class PlainScene final : public Scene {
 public:
  explicit PlainScene(const std::string& url) : url_(filled(url, folder_.path())) {}

  const std::string& url() const override { return url_; }
  bool is_one_process() const override { return url_.starts_with("memory:"); }

 private:
  const test::TempFolder folder_;
  const std::string url_;
};

}  // namespace

std::unique_ptr<Scene> scene_of(const std::string& url) {
  const std::string scheme = url.substr(0, url.find(':'));
  if (scheme == "sqlite" || scheme == "embedded") return sqlite_scene(url);
  const bool made_for_the_run = url.find("{}") != std::string::npos;
  if (scheme == "redis" && made_for_the_run) return redis_scene(url);
  if (scheme == "zk" && made_for_the_run) return zookeeper_scene(url);
  return std::make_unique<PlainScene>(url);
}

std::string filled(std::string url, const std::string& with) {
  if (const auto at = url.find("{}"); at != std::string::npos) url.replace(at, 2, with);
  return url;
}

}  // namespace holdfast::torture
