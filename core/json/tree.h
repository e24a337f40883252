#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/document.h"

/// The memory layout of a Document. Private to this folder.
namespace hostler::json {

inline constexpr std::uint32_t kNoNode = UINT32_MAX;

/// A part of Tree::strings.
struct Slice {
  std::uint32_t at = 0, length = 0;
};

/// Nodes are stored in the order of the text. So the first child of node `n` is `n + 1`.
struct Node {
  Kind kind = Kind::kNull;
  std::uint32_t parent = kNoNode;
  std::uint32_t next = 0;    ///< The node after this one and all its descendants.
  std::uint32_t count = 0;   ///< Number of children.
  std::uint32_t offset = 0;  ///< Position in the source.
  Slice key = {}, text = {};
};

struct Tree {
  std::string copy;         ///< Of the text, if the tree outlives it.
  std::string_view source;  ///< The text.
  std::string strings;
  std::vector<Node> nodes;
  std::uint32_t shed_of = kNoNode;  ///< The array whose elements were dropped (Elements),
  std::size_t shed = 0;             ///< and how many of them.

  [[nodiscard]] std::string_view slice(Slice s) const {
    return std::string_view(strings).substr(s.at, s.length);
  }
  [[nodiscard]] std::string path(std::uint32_t node) const;
};

/// "line:column" of a byte of the source.
std::string position_in(std::string_view source, std::size_t offset);

}  // namespace hostler::json
