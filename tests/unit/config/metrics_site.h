#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/config/load.h"

/// A site of one pool and some metrics, for tests.
namespace hostler::config {

/// `metrics` and `pool`: members of the list, and of the pool "p".
inline std::string site_with(const std::string& metrics, const std::string& pool) {
  return R"({
    "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
    "sets": [{"name": "s", "driver": "local"}],
    "metrics": [)" +
         metrics + R"(],
    "ceilings": {"instances_max": 1000},
    "pools": [{"name": "p", "sets": ["s"], "types": ["t"], )" +
         pool + "}]}";
}

inline Reading read_site(const std::string& text) {
  LoadOptions options;
  options.surroundings = {.is_root = true};
  options.read_files = false;
  return read_text(text, "/etc/hostler", options);
}

inline std::vector<std::string> site_problems(const std::string& text) {
  std::vector<std::string> out;
  for (const Error& error : read_site(text).problems) out.push_back(error.message);
  return out;
}

inline Config good_site(const std::string& text) {
  for (const std::string& problem : site_problems(text)) ADD_FAILURE() << problem;
  return read_site(text).config;
}

}  // namespace hostler::config
