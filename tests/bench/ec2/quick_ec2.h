#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/bench/cloud/quick_server.h"

namespace hostler::ec2::bench {

/// Says what EC2 and STS say, at once and without having done anything, on loopback. There are
/// always the same instances, in pages of 1,000.
class QuickEc2 {
 public:
  static constexpr int kPage = 1000;

  explicit QuickEc2(int pages);

  [[nodiscard]] std::string endpoint() const {
    return "http://127.0.0.1:" + std::to_string(server_.port());
  }
  /// Of all pages, in bytes.
  [[nodiscard]] std::size_t list_bytes() const;

 private:
  using Text = std::shared_ptr<const std::string>;
  [[nodiscard]] Text answer_to(const std::string& body) const;

  std::vector<Text> pages_;
  Text none_, created_, identity_;
  hostler::bench::QuickServer server_;
};

}  // namespace hostler::ec2::bench
