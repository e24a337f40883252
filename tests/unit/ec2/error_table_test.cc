// The driver's page has a table of errors, which is compared with the driver's own.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "meanings.h"

namespace hostler::ec2::test {
namespace {

/// One code of a row: what the page says of it.
struct Said {
  std::string code;   ///< "..." stands for any text.
  std::string words;  ///< That the text of the error has; empty: any text.
  std::string meaning;
};

std::vector<Said> codes_in(const std::string& row) {
  const std::size_t middle = row.find(" | ", 2);
  const std::string left = row.substr(2, middle - 2), right = row.substr(middle + 3);
  static const std::regex kCode("`([^`]+)`(?: with \"([^\"]+)\")?");
  std::vector<Said> out;
  for (std::sregex_iterator at(left.begin(), left.end(), kCode), end; at != end; ++at)
    out.push_back({(*at)[1], (*at)[2], right});
  return out;
}

std::vector<Said> table_of_the_page() {
  std::ifstream page(HOSTLER_EC2_PAGE);
  std::vector<Said> out;
  bool is_table = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "| EC2 | hostler |") {
      is_table = true;
    } else if (is_table && line.empty()) {
      break;
    } else if (is_table) {
      for (Said& one : codes_in(line)) out.push_back(std::move(one));
    }
  }
  return out;
}

bool has(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

/// -1: the page says none.
int status_of(const std::string& meaning) {
  static const std::map<std::string, int> kStatuses{
      {"capacity", HOSTLER_E_CAPACITY},       {"quota", HOSTLER_E_QUOTA},
      {"rate limit", HOSTLER_E_RATE_LIMIT},   {"authorisation", HOSTLER_E_AUTH},
      {"unsupported", HOSTLER_E_UNSUPPORTED}, {"not found", HOSTLER_E_NOT_FOUND},
      {"invalid", HOSTLER_E_INVALID},         {"conflict", HOSTLER_E_CONFLICT},
      {"temporary", HOSTLER_E_TRANSIENT}};
  for (const auto& [word, status] : kStatuses)
    if (meaning.rfind(word, 0) == 0) return status;
  return -1;
}

std::uint32_t scope_of(const std::string& meaning) {
  static const std::map<const char*, std::uint32_t> kScopes{
      {"the type", HOSTLER_SCOPE_TYPE},     {"the zone", HOSTLER_SCOPE_ZONE},
      {"the subnet", HOSTLER_SCOPE_SUBNET}, {"the region", HOSTLER_SCOPE_REGION},
      {"quota group", HOSTLER_SCOPE_GROUP}, {"the account", HOSTLER_SCOPE_ACCOUNT},
      {"spot only", HOSTLER_SCOPE_MARKET},  {"market only", HOSTLER_SCOPE_MARKET},
      {"the image", HOSTLER_SCOPE_IMAGE},   {"function only", HOSTLER_SCOPE_OPERATION}};
  const std::string begin = meaning.substr(0, meaning.find(';'));
  std::uint32_t out = 0;
  for (const auto& [words, scope] : kScopes)
    if (has(begin, words)) out |= scope;
  return out;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  if (const std::size_t at = text.find(from); at != std::string::npos)
    text.replace(at, from.size(), to);
  return text;
}

TEST(Ec2ErrorTable, OfThePageSaysOfEachCodeWhatTheDriverMakesOfIt) {
  const auto table = table_of_the_page();
  ASSERT_GT(table.size(), 50U);
  for (const Said& said : table) {
    const std::string code = replaced(said.code, "...", "Zzz");
    const Meaning* meaning = find_meaning(code, "There are not " + said.words);
    ASSERT_NE(meaning, nullptr) << said.code;
    EXPECT_EQ(meaning->status, status_of(said.meaning)) << said.code << ": " << said.meaning;
    EXPECT_EQ(meaning->scope, scope_of(said.meaning)) << said.code << ": " << said.meaning;
  }
}

TEST(Ec2ErrorTable, OfThePageHasEachCodeThatTheDriverKnows) {
  std::set<std::string> on_page;
  for (const Said& said : table_of_the_page()) on_page.insert(replaced(said.code, "...", "*"));
  for (const Meaning& one : all_meanings())
    EXPECT_TRUE(on_page.count(std::string(one.code)) != 0) << one.code;
}

}  // namespace
}  // namespace hostler::ec2::test
