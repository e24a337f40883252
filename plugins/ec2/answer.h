#pragma once

#include <memory>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "http/transport.h"

namespace hostler::ec2 {

using Node = pugi::xml_node;

/// What Amazon has answered: one document of XML.
class Answer {
 public:
  /// Throws Refused if it is an error of Amazon's, NoAnswer if it is not the answer to `action` of
  /// this version at all.
  static Answer read(const http::Answer& http, const std::string& action, std::string_view version);

  /// The element ACTIONResponse. Lives as long as this.
  [[nodiscard]] Node root() const { return document_->document_element(); }
  /// A child of the root that has to be there: a list without it is not an empty list.
  [[nodiscard]] Node need(const char* name) const;

 private:
  std::unique_ptr<pugi::xml_document> document_;  // whose nodes do not move
};

// Of elements below `node`. Missing ones are empty or 0.
std::string text_of(const Node& node, const char* name);
/// \param path "placement/availabilityZone"
std::string text_at(const Node& node, const char* path);

/// An answer that cannot be Amazon's.
[[noreturn]] void throw_not_amazon(const std::string& what);

}  // namespace hostler::ec2
