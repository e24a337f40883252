#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/expression/grammar.h"
#include "core/expression/lexer.h"
#include "core/expression/limits.h"
#include "core/expression/syntax.h"

namespace hostler::expression {

/// Makes a tree of a text as expr's parser does, also where that is odd: `-a not in b` is
/// `(-a) in b`. Names are resolved here: each is a variable, a metric, or a word of the language.
class Parser {
 public:
  /// All arguments have to live as long as the parser.
  Parser(std::string_view text, std::span<const std::string> metrics, const Grammar& grammar)
      : text_(text), metrics_(metrics), grammar_(grammar), lexer_(text) {}

  Result<Tree> parse();

 private:
  struct Variable {
    std::string_view name;
    NodeId value = 0;
  };

  Result<NodeId> expression(int precedence);
  Result<NodeId> nested(int precedence);
  Result<NodeId> binary(NodeId left, int precedence);
  Result<NodeId> choice(NodeId condition);
  Result<NodeId> declaration();
  Result<NodeId> operand();
  Result<NodeId> primary();
  Result<NodeId> literal();
  Result<NodeId> array();
  Result<NodeId> name();
  Result<NodeId> call(const Function& function, const Token& name);
  Result<NodeId> input(const InputWord& word, const Token& name);
  Result<std::string> metric();
  Result<std::string_view> quoted(std::string_view what);
  Result<NodeId> finish_list(Node node, std::size_t pending_before);
  Result<NodeId> add_input(Input&& input, Type type, std::uint32_t at);
  Result<NodeId> add(const Node& node);

  Result<void> advance();
  Result<void> expect(TokenKind kind, std::string_view word);
  [[nodiscard]] bool sees(std::string_view sign) const;
  [[nodiscard]] bool is_metric(std::string_view name) const;
  [[nodiscard]] Result<void> check_new_variable(const Token& name) const;
  [[nodiscard]] tl::unexpected<Error> refuse(std::string_view message, std::uint32_t at) const;
  [[nodiscard]] tl::unexpected<Error> refuse_token() const;

  std::string_view text_;
  std::span<const std::string> metrics_;
  const Grammar& grammar_;
  Lexer lexer_;
  Token token_;
  Tree tree_;
  std::vector<NodeId> pending_;  ///< Elements and arguments of lists that are not closed yet.
  std::vector<Variable> variables_;
  std::size_t depth_ = 0;
};

}  // namespace hostler::expression
