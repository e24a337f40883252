#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hostler::machines {

/// The longest line of a request.
inline constexpr std::size_t kLineMax = std::size_t{1} << 20;
inline constexpr int kMachinesMax = 250;
inline constexpr int kMachinesUsual = 50;

using Tags = std::map<std::string, std::string>;

enum class Operation { kInfo, kCreate, kList, kTag, kDestroy, kConsole, kEnd };

/// What a machine is made from.
struct CreateSpec {
  std::string key;
  std::vector<std::string> authorized_keys;
  std::string host_key;   ///< A private key; empty: one is made.
  std::string user_data;  ///< Empty: none.
  Tags tags;

  bool operator==(const CreateSpec&) const = default;
};

/// One request. Members that its operation does not have are empty.
struct Request {
  Operation operation = Operation::kInfo;
  CreateSpec create;
  std::string id;
  std::map<std::string, std::optional<std::string>> tags;  ///< Of `tag`; nullopt removes one.
};

/// Reads a line. Throws a Failure `unauthorized` if its token is another one, and `invalid` with
/// the name of the member if anything else is wrong. Neither text nor token are in the message.
Request read_request(std::string_view line, std::string_view token);

/// Throws a Failure `invalid` if these tags are more or longer than allowed.
void check_tags(const Tags& tags);

}  // namespace hostler::machines
