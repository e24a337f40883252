#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

/// Validators without a description of their own in --help: the option's text names the values.
namespace hostler::cli {

inline CLI::Validator one_of(std::vector<std::string> words) {
  return CLI::Validator(CLI::IsMember(std::move(words))).description("");
}

inline CLI::Validator within(int min, int max) {
  return CLI::Validator(CLI::Range(min, max)).description("");
}

inline CLI::Validator positive() {
  const auto problem = [](const std::string& text) {
    const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
    const bool is_positive = is_number && text.find_first_not_of('0') != std::string::npos;
    return is_positive ? std::string() : "a number from 1 on is needed, not " + text;
  };
  return {problem, ""};
}

}  // namespace hostler::cli
