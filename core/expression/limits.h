#pragma once

#include <cstddef>
#include <cstdint>

/// The bounds of the time and the memory of an expression.
namespace hostler::expression {

inline constexpr std::size_t kTextMax = 8192;   ///< Bytes.
inline constexpr std::size_t kDepthMax = 64;    ///< Expressions within another.
inline constexpr std::size_t kStepsMax = 1000;  ///< Nodes of a tree, instructions of a program.
/// Elements of ranges and arrays that one evaluation makes are fewer. expr bounds its memory so;
/// ours are not made, but what it refuses is refused.
inline constexpr std::uint64_t kElementsMax = 1'000'000;
/// Elements of ranges that one evaluation looks at one by one. Ours: expr has no such limit.
inline constexpr std::uint64_t kLookedAtMax = 4'000'000;

}  // namespace hostler::expression
