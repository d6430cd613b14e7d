// Disturbances that scenes with a server have in common.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "support/net/proxy.hpp"
#include "torture/scene.hpp"

namespace holdfast::torture {

using Step = std::function<void()>;

// One whose begin and end are given. Both texts are literals.
void add(
    Disturbances&, std::string_view name, std::string_view text, Step begin, Step end = [] {});

// What befalls the ways between the clients and all their servers.
void add_network_faults(Disturbances&, const std::vector<test::Proxy*>& ways);

}  // namespace holdfast::torture
