// The sandbox of a driver within the sandbox of the packaged service: packaging/systemd.
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/unit/driver_host/intruder_set.h"

namespace hostler::driver_host {
namespace {

using Names = std::set<std::string>;

/// What each group of system calls of this machine's systemd names: calls and other groups. Empty:
/// there is no systemd.
std::map<std::string, Names> groups() {
  std::string listed;
  FILE* const pipe = ::popen("systemd-analyze --no-pager syscall-filter 2>/dev/null", "r");
  std::array<char, 4096> block{};
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), pipe))
    listed.append(block.data(), n);
  ::pclose(pipe);
  std::map<std::string, Names> out;
  std::istringstream lines(listed);
  std::string group;
  for (std::string line; std::getline(lines, line);) {
    const auto from = line.find_first_not_of(' ');
    if (line.starts_with("@")) group = line;
    if (from != 0 && from != line.npos && line[from] != '#') out[group].insert(line.substr(from));
  }
  return out;
}

void expand(const std::string& name, const std::map<std::string, Names>& groups, Names& out) {
  const auto group = groups.find(name);
  if (group == groups.end())
    out.insert(name);
  else
    for (const auto& member : group->second) expand(member, groups, out);
}

/// The calls that the unit's lines SystemCallFilter= allow; the first one begins a list of what is
/// allowed. Lines with a word of `without` are left out.
Names allowed_by_unit(const std::map<std::string, Names>& groups, const std::string& without = {}) {
  constexpr std::string_view kKey = "SystemCallFilter=";
  Names allowed;
  std::ifstream unit(HOSTLER_UNIT);
  for (std::string line; std::getline(unit, line);) {
    if (!line.starts_with(kKey) || (!without.empty() && line.find(without) != line.npos)) continue;
    const bool removes = line.at(kKey.size()) == '~';
    std::istringstream names(line.substr(kKey.size() + (removes ? 1 : 0)));
    Names calls;
    for (std::string name; names >> name;) expand(name, groups, calls);
    for (const auto& call : calls)
      if (removes)
        allowed.erase(call);
      else
        allowed.insert(call);
  }
  return allowed;
}

class UnitFilterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kernel_has_landlock()) GTEST_SKIP() << "this kernel has no Landlock";
    if (groups_.empty()) GTEST_SKIP() << "there is no systemd-analyze here";
    std::filesystem::copy(HOSTLER_AS_IN_UNIT, program());
  }
  [[nodiscard]] std::string program() const { return folder_ / "as_in_unit"; }
  [[nodiscard]] const std::map<std::string, Names>& groups() const { return groups_; }

  /// The level and the limit of CPU that are in force when the service allows these calls.
  [[nodiscard]] std::string sandbox_with(const Names& allowed) const {
    std::ofstream file(folder_ / "allowed");
    for (const auto& call : allowed) file << call << "\n";
    file.close();
    const auto set = make_intruder({.level = model::Sandbox::kFull}, program());
    EXPECT_EQ(open(*set, "resolve", ""), "resolve: done");
    return set->health().sandbox + ", " + set->health().cpu_limit;
  }

 private:
  const test::TempFolder folder_;
  const std::map<std::string, Names> groups_ = driver_host::groups();
};

TEST_F(UnitFilterTest, TheServiceAllowsWhatTheSandboxOfADriverNeeds) {
  EXPECT_EQ(sandbox_with(allowed_by_unit(groups())), "full, nice");
}

TEST_F(UnitFilterTest, WithoutItsLinesForThatThereIsNone) {
  EXPECT_EQ(sandbox_with(allowed_by_unit(groups(), "landlock_")), "none, nice");
  const auto required = make_intruder({.min = model::Sandbox::kFiles}, program());
  EXPECT_THAT(open(*required, "resolve", ""),
              testing::HasSubstr("the sandbox of the driver's process is none, but sandbox_min of "
                                 "the configuration is files: landlock_create_ruleset is refused"));
  EXPECT_EQ(sandbox_with(allowed_by_unit(groups(), "seccomp")), "files, none");
}

}  // namespace
}  // namespace hostler::driver_host
