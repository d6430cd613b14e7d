#include "api/engine_settings.hpp"

namespace holdfast::detail {

core::EngineSettings engine_settings(const ClientOptions& options,
                                     const runtime::ProcessInfo& process, store::ClientId client,
                                     const store::Capabilities& can) {
  core::EngineSettings settings;
  settings.client = client;
  settings.self.host = process.host;
  settings.self.pid = process.pid;
  settings.self.program = options.program.empty() ? process.program : options.program;
  settings.pace.answer_within = options.answer_within;
  settings.pace.patience = options.patience;
  settings.pace.drift = {options.drift_ppm, options.drift_constant};
  settings.handoff_count = options.handoff_count;
  settings.handoff_time = options.handoff_time;
  settings.can = can;
  return settings;
}

}  // namespace holdfast::detail
