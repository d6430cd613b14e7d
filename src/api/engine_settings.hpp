#pragma once

#include "core/engine.hpp"
#include "holdfast/client.hpp"
#include "runtime/process_info.hpp"

namespace holdfast::detail {

// What a client's options mean to its engine. A program named in them goes before the process's own.
core::EngineSettings engine_settings(const ClientOptions&, const runtime::ProcessInfo&,
                                     store::ClientId, const store::Capabilities&);

}  // namespace holdfast::detail
