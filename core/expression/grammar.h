#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/expression/syntax.h"

/// The words of the language, as tables.
namespace hostler::expression {

struct Operator {
  std::string_view token;
  Op op{};
  int precedence = 0;  ///< A higher one binds tighter.
  bool right = false;  ///< Associative to the right.
};

struct Grammar {
  std::array<Operator, 20> binary;
  std::array<Operator, 4> unary;
};
/// That of expr v1.16.0.
extern const Grammar kGrammar;

/// nullptr: there is none.
const Operator* find_operator(std::string_view token, const auto& operators) {
  for (const Operator& each : operators)
    if (each.token == token) return &each;
  return nullptr;
}

/// A function that computes with values.
struct Function {
  std::string_view name;
  Op op{};
  std::uint32_t arguments = 1;  ///< 0: one or more.
};
const Function* find_function(std::string_view name);
/// Empty: no function computes this.
std::string_view function_name(Op op);

enum class Takes : std::uint8_t { kNothing, kMetric, kMetricAndTime, kZone };
/// A word that names an input: age(m), avg_over(m, "5m"), hour("UTC"), created.
struct InputWord {
  std::string_view name;
  Input::Kind kind{};
  Takes takes{};
};
const InputWord* find_input_word(std::string_view name);

/// A function of the language or of expr, or a word that names an input.
bool is_function(std::string_view name);
/// A builtin of expr that the language does not have.
bool is_foreign_function(std::string_view name);
/// One of `contains startsWith endsWith matches`.
bool is_text_operator(std::string_view token);

}  // namespace hostler::expression
