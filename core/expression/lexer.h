#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace hostler::expression {

enum class TokenKind : std::uint8_t { kEnd, kName, kNumber, kText, kOperator, kBracket };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::uint32_t at = 0;   ///< In bytes.
  std::string_view text;  ///< As written; of kText what is between the quotes.

  [[nodiscard]] bool is(TokenKind wanted, std::string_view word) const {
    return kind == wanted && text == word;
  }
};

/// Splits a text into tokens as expr's lexer does: `1..2` is a range, `q//10` is `q`.
class Lexer {
 public:
  /// `text` has to live as long as the lexer and its tokens.
  explicit Lexer(std::string_view text) : text_(text) {}

  /// At the end always kEnd.
  Result<Token> next();

 private:
  [[nodiscard]] char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  Result<void> skip_blanks();
  Result<void> skip_comment();
  Result<Token> number(std::size_t begin);
  /// About the word that begins here with a digit.
  [[nodiscard]] std::string why_no_number() const;
  Result<Token> quoted();
  Result<Token> sign();
  Token token(TokenKind kind, std::size_t end);
  [[nodiscard]] tl::unexpected<Error> refuse(std::string_view message, std::size_t where) const;

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace hostler::expression
