#pragma once

#include <string>

namespace hostler::machines {

inline constexpr const char* kConnectionFile = "hosts.json";

/// How clients reach a keeper.
struct KeeperAddress {
  std::string endpoint;  ///< "127.0.0.1:PORT"
  std::string token;
};

/// Reads the file of `folder`, or if that is empty the one that HOSTLER_HOSTS names. Throws a
/// Failure.
KeeperAddress read_connection_file(const std::string& folder);

/// Writes it into the folder with this descriptor. Throws a Failure.
void write_connection_file(int folder, const KeeperAddress& address);

/// 64 hexadecimal digits of chance.
std::string new_token();

}  // namespace hostler::machines
