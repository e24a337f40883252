#pragma once

#include <memory>
#include <string>

#include "tests/bench/cloud/quick_server.h"

namespace hostler::lxd::bench {

/// Says what LXD says, at once and without having done anything, on a unix socket. There are always
/// the same instances, and never the one that is asked for by its name.
class QuickLxd {
 public:
  explicit QuickLxd(int instances);

  [[nodiscard]] const std::string& socket() const { return server_.socket(); }
  /// Of the list of all instances, in bytes.
  [[nodiscard]] std::size_t list_bytes() const { return list_->size(); }

 private:
  std::shared_ptr<const std::string> list_;
  hostler::bench::QuickServer server_;
};

}  // namespace hostler::lxd::bench
