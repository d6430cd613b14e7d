#pragma once

#include <cstdint>

// The server's numbers for what can be asked, and for the parts of an answer to several things asked as one.
namespace holdfast::store::zookeeper::opcode {

inline constexpr std::int32_t kNone = -1;  // the end of the parts; as an answer, an error
inline constexpr std::int32_t kCreate = 1;
inline constexpr std::int32_t kDelete = 2;
inline constexpr std::int32_t kExists = 3;
inline constexpr std::int32_t kGetData = 4;
inline constexpr std::int32_t kSetData = 5;
inline constexpr std::int32_t kSync = 9;
inline constexpr std::int32_t kPing = 11;
inline constexpr std::int32_t kGetChildren2 = 12;
inline constexpr std::int32_t kCheck = 13;
inline constexpr std::int32_t kMulti = 14;
inline constexpr std::int32_t kCreate2 = 15;
inline constexpr std::int32_t kCreateContainer = 19;
inline constexpr std::int32_t kAuth = 100;
inline constexpr std::int32_t kSetWatches = 101;
inline constexpr std::int32_t kCloseSession = -11;

}  // namespace holdfast::store::zookeeper::opcode
