// Where a run takes place: a store that is there, or one that is made for the run, and the faults that only
// this kind of store knows: a server that is restarted, a proxy that cuts the line. A store adds its own in a
// file beside scene.cpp; the plan draws from them, the conductor begins and ends them, and the report shows
// them by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checker/history.hpp"

namespace holdfast::torture {

class Disturbance {
 public:
  virtual ~Disturbance() = default;

  virtual std::string_view name() const = 0;
  virtual std::string_view text() const = 0;  // as in "the database is locked by another process"

  // Called in turns, by one thread, and no two of a scene at a time. end() undoes what begin() did, as far as
  // that can be.
  virtual void begin() = 0;
  virtual void end() = 0;

  // Which premises of the promises it leaves standing.
  virtual check::Assumptions leaves() const { return {}; }
};

using Disturbances = std::vector<std::unique_ptr<Disturbance>>;

class Scene {
 public:
  virtual ~Scene() = default;

  virtual const std::string& url() const = 0;  // for the workers
  // None for a store that knows no others than the usual faults. They do not outlive the scene.
  virtual Disturbances disturbances() { return {}; }
  // A store that lives inside one process: all workers are clients of that one, and it is not killed.
  virtual bool is_one_process() const { return false; }
};

// {} in the URL is a folder that is made for the run and removed; of redis: it is a server, of zk: one server or three:
// zk://{},{},{}/base
std::unique_ptr<Scene> scene_of(const std::string& url);

// Those of single stores, each in a file of its own.
std::unique_ptr<Scene> sqlite_scene(const std::string& url);
std::unique_ptr<Scene> redis_scene(const std::string& url);
std::unique_ptr<Scene> zookeeper_scene(const std::string& url);

// The URL with something in the place of its {}, if it has one.
std::string filled(std::string url, const std::string& with);

}  // namespace holdfast::torture
