#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/option.hpp"
#include "holdfast/time.hpp"

namespace holdfast::cli {

inline constexpr int kUnits = 1000;
inline constexpr int kShops = 2;
inline constexpr int kBuyersPerShop = 400;
inline constexpr int kBuyers = kShops * kBuyersPerShop;
inline constexpr int kUnitsPerBuyer = 2;
inline constexpr Duration kPayment = std::chrono::milliseconds(1);

// What keeps buyers from getting into each other's way.
enum class Guarding { nothing, std_mutex, holdfast };

// What the process of one shop is told when it is started.
struct ShopPlan {
  std::filesystem::path folder{};  // of the shelves
  Guarding guarding = Guarding::nothing;
  int shop = 0;
  std::uint64_t seed = 0;
  int articles = 1;    // each with a shelf and a lock of its own
  std::string lock{};  // what the names of the locks begin with
  Duration lease{};
  int hang_at = 0;        // the how-manieth buyer of this shop has a payment that hangs; 0: none
  bool reopened = false;  // some buyers were here before

  static std::vector<Option> options();
  static ShopPlan from(const Arguments&);
  std::vector<std::string> words() const;

  std::filesystem::path shelf(int article) const { return folder / std::to_string(article); }
  std::string lock_name(int article) const { return lock + "/" + std::to_string(article); }
};

// The same article for a buyer in every run, and each article in both shops.
constexpr int article_of(int buyer, int articles) { return buyer % articles; }

inline const char* shop_name(int shop) { return shop == 0 ? "shop A" : "shop B"; }

}  // namespace holdfast::cli
