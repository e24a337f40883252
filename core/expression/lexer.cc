#include "core/expression/lexer.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/text.h"
#include "core/expression/caret.h"
#include "core/expression/grammar.h"
#include "core/expression/window.h"

namespace hostler::expression {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// expr takes letters of all alphabets. No name of ours has others.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool is_word(char c) { return is_letter(c) || is_digit(c); }

/// Bytes of the blank that the text begins with, as Unicode defines it; 0: there is none.
std::size_t blank_length(std::string_view text) {
  constexpr std::array<std::string_view, 8> kBlanks{"\u0085", "\u00a0", "\u1680", "\u2028",
                                                    "\u2029", "\u202f", "\u205f", "\u3000"};
  if (text.empty()) return 0;
  if (text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r')) return 1;
  for (const std::string_view blank : kBlanks)
    if (text.starts_with(blank)) return blank.size();
  // U+2000 to U+200A
  const bool spaces = text.starts_with("\xe2\x80") && text.size() > 2;
  return spaces && static_cast<unsigned char>(text[2]) <= 0x8a ? 3 : 0;
}

}  // namespace

tl::unexpected<Error> Lexer::refuse(std::string_view message, std::size_t where) const {
  return fail(Errc::kInvalidArgument, with_caret(message, text_, where));
}

Token Lexer::token(TokenKind kind, std::size_t end) {
  const std::size_t begin = position_;
  position_ = end;
  return {kind, static_cast<std::uint32_t>(begin), text_.substr(begin, end - begin)};
}

Result<void> Lexer::skip_comment() {
  const std::size_t begin = position_;
  const bool line = at(begin + 1) == '/';
  const std::size_t end = text_.find(line ? "\n" : "*/", begin + 2);
  if (end == std::string_view::npos && !line) return refuse("this comment is not closed", begin);
  position_ = std::min(text_.size(), end == std::string_view::npos ? end : end + (line ? 1 : 2));
  return {};
}

Result<void> Lexer::skip_blanks() {
  for (;;) {
    if (const std::size_t blank = blank_length(text_.substr(position_)); blank > 0)
      position_ += blank;
    else if (at(position_) == '/' && (at(position_ + 1) == '/' || at(position_ + 1) == '*'))
      HOSTLER_TRY(skip_comment());
    else
      return {};
  }
}

Result<Token> Lexer::next() {
  HOSTLER_TRY(skip_blanks());
  if (position_ == text_.size()) return token(TokenKind::kEnd, position_);
  const char c = text_[position_];
  if (is_digit(c)) return number(position_);
  if (c == '.' && is_digit(at(position_ + 1))) return number(position_ + 1);
  if (c == '\'' || c == '"' || c == '`') return quoted();
  if (!is_letter(c)) return sign();
  std::size_t end = position_;
  while (is_word(at(end))) ++end;
  const std::string_view word = text_.substr(position_, end - position_);
  const bool operates = word == "let" || is_text_operator(word) ||
                        find_operator(word, kGrammar.binary) != nullptr ||
                        find_operator(word, kGrammar.unary) != nullptr;
  return token(operates ? TokenKind::kOperator : TokenKind::kName, end);
}

std::string Lexer::why_no_number() const {
  std::size_t end = position_;
  while (is_word(at(end))) ++end;
  const std::string word = printable(text_.substr(position_, end - position_), 40);
  const bool is_time = parse_window(word).has_value();
  return "'" + word + "' is not a number" +
         (is_time ? "; a time stands in quotes: \"" + word + "\"" : "");
}

/// Whether it is a number is seen when it is read: `0b1.5` is a token.
Result<Token> Lexer::number(std::size_t begin) {
  std::size_t end = begin;
  std::string_view digits = "0123456789_";
  if (at(end) == '0') {
    constexpr std::string_view kHex = "0123456789abcdefABCDEF_", kOctal = "01234567_";
    const char base = at(++end);
    if (base == 'x' || base == 'X') digits = kHex, ++end;
    if (base == 'o' || base == 'O') digits = kOctal, ++end;
    if (base == 'b' || base == 'B') digits = "01_", ++end;
  }
  const auto skip_digits = [&] {
    end = std::min(text_.find_first_not_of(digits, end), text_.size());
  };
  skip_digits();
  if (at(end) == '.') {
    if (at(end + 1) == '.') return token(TokenKind::kNumber, end);
    ++end;
    skip_digits();
  }
  if (at(end) == 'e' || at(end) == 'E') {
    ++end;
    if (at(end) == '+' || at(end) == '-') ++end;
    skip_digits();
  }
  if (is_word(at(end))) return refuse(why_no_number(), position_);
  return token(TokenKind::kNumber, end);
}

Result<Token> Lexer::quoted() {
  const std::size_t begin = position_ + 1;
  const std::size_t end = text_.find(text_[position_], begin);
  const std::string_view inside = text_.substr(begin, end - begin);
  if (end == std::string_view::npos || inside.find('\n') != std::string_view::npos)
    return refuse("this text is not closed", position_);
  Token out = token(TokenKind::kText, end + 1);
  out.text = inside;
  return out;
}

Result<Token> Lexer::sign() {
  const char c = text_[position_], following = at(position_ + 1);
  const auto one_or_two = [&](std::string_view seconds) {
    const bool two = following != '\0' && seconds.find(following) != std::string_view::npos;
    return token(TokenKind::kOperator, position_ + (two ? 2 : 1));
  };
  switch (c) {
    case '(':
    case ')':
    case '[':
    case ']':
    case '{':
    case '}':
      return token(TokenKind::kBracket, position_ + 1);
    case ',':
    case ';':
    case '%':
    case '+':
    case '-':
    case '^':
    case '/':
    case '#':
      return one_or_two("");
    case '|':
      return one_or_two("|");
    case ':':
      return one_or_two(":");
    case '.':
      return one_or_two(".");
    case '?':
      return one_or_two(".?");
    case '&':
    case '!':
    case '=':
    case '*':
    case '<':
    case '>':
      return one_or_two("&=*");
    default:
      return refuse(
          "the language has no character '" +
              printable(text_.substr(
                  position_, std::max<std::size_t>(1, utf8_length(text_.substr(position_))))) +
              "'",
          position_);
  }
}

}  // namespace hostler::expression
