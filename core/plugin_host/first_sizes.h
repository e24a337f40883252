#pragma once

#include <cstddef>

#include "hostler/driver.h"

/// The size that each struct which drivers write had in its first version (R15). A driver that was
/// built with that version writes no more, also to a host whose header has grown since. A field
/// that a struct gets at its end within a draft changes nothing here.
namespace hostler::plugin_host {

template <class T>
inline constexpr std::size_t kFirstSize = 0;  ///< Not written by drivers: must not be read.

template <>
inline constexpr std::size_t kFirstSize<hostler_driver> = 144;
template <>
inline constexpr std::size_t kFirstSize<hostler_instance> = 232;
template <>
inline constexpr std::size_t kFirstSize<hostler_set_info> = 112;
template <>
inline constexpr std::size_t kFirstSize<hostler_price> = 48;
template <>
inline constexpr std::size_t kFirstSize<hostler_quota_group> = 24;
template <>
inline constexpr std::size_t kFirstSize<hostler_log_line> = 40;
template <>
inline constexpr std::size_t kFirstSize<hostler_ext_host_key> = 16;
template <>
inline constexpr std::size_t kFirstSize<hostler_ext_price_history> = 16;
template <>
inline constexpr std::size_t kFirstSize<hostler_ext_quota_group> = 16;
template <>
inline constexpr std::size_t kFirstSize<hostler_ext_power> = 24;
template <>
inline constexpr std::size_t kFirstSize<hostler_offering> = 112;
template <>
inline constexpr std::size_t kFirstSize<hostler_interruption> = 56;
template <>
inline constexpr std::size_t kFirstSize<hostler_console> = 40;
template <>
inline constexpr std::size_t kFirstSize<hostler_leftover> = 80;
template <>
inline constexpr std::size_t kFirstSize<hostler_image> = 80;
template <>
inline constexpr std::size_t kFirstSize<hostler_ext_offerings> = 16;
template <>
inline constexpr std::size_t kFirstSize<hostler_ext_interruption> = 16;
template <>
inline constexpr std::size_t kFirstSize<hostler_ext_console> = 16;
template <>
inline constexpr std::size_t kFirstSize<hostler_ext_leftovers> = 24;
template <>
inline constexpr std::size_t kFirstSize<hostler_ext_images> = 16;

}  // namespace hostler::plugin_host
