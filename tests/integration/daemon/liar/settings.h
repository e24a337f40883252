#pragma once

#include <string>

namespace hostler::liar {

struct Settings {
  std::string driver;  ///< File of the real driver.
  std::string folder;  ///< Of the files `lies` and `calls`.
  std::string config;  ///< Of the real driver, JSON.
  std::string by;      ///< " by LABEL", or empty: what is added to each line of `calls`.
  std::string account, open;
};

extern const char* const kSchema;

/// The member `token` of the credentials; empty: none.
std::string read_token(const std::string& credentials);
/// Throws driver::Error.
Settings read_settings(const std::string& json);

}  // namespace hostler::liar
