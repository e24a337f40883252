#pragma once

#include <string>

namespace hostler::liar {

struct Settings {
  std::string driver;  ///< File of the real driver.
  std::string folder;  ///< Of the files `lies` and `calls`.
  std::string config;  ///< Of the real driver, JSON.
};

extern const char* const kSchema;

/// Throws driver::Error.
Settings read_settings(const std::string& json);

}  // namespace hostler::liar
