#include "core/usage/usage.h"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>

namespace hostler::usage {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A program with two commands, one of them below another.
Command sample() {
  Command list{
      .name = "driver list",
      .help = "List them",
      .more = {},
      .options = {{.short_name = "-p", .name = "--path", .value = "FOLDER", .help = "There"}},
      .arguments = {},
      .below = {}};
  Command driver{.name = "driver",
                 .help = "Drivers",
                 .more = {},
                 .options = {},
                 .arguments = {},
                 .below = {std::move(list)}};
  Command wait{.name = "wait",
               .help = "Wait",
               .more = {},
               .options = {{.short_name = {}, .name = "--json", .value = {}, .help = "As JSON"}},
               .arguments = {{.value = "JOB", .help = "Which", .needed = true, .many = true}},
               .below = {}};
  return {.name = "prog",
          .help = "does it",
          .more = "One.\n\nTwo.",
          .options = {{.short_name = {}, .name = "--url", .value = "URL", .help = "Where"}},
          .arguments = {},
          .below = {std::move(wait), std::move(driver)}};
}

TEST(UsageTest, ReadsWhatCli11WasToldButForWhatIsHidden) {
  CLI::App app{"does it\n\nAt length.\n", "prog"};
  std::string text, where;
  std::vector<std::string> many;
  app.add_option("-o,--out", text, "Out")->type_name("FILE");
  app.add_flag("--secret")->group("");
  app.add_subcommand("hidden")->group("");
  CLI::App* command = app.add_subcommand("do", "Do it")->add_subcommand("twice", "Again");
  command->add_option("ids", many, "Which")->type_name("JOB")->required();
  command->add_option("where", where, "Where")->type_name("PLACE");

  const Command got = command_of(app);

  EXPECT_EQ(got.name, "prog");
  EXPECT_EQ(got.help, "does it");
  EXPECT_EQ(got.more, "At length.");
  ASSERT_EQ(got.options.size(), 2U);  // --help is the other one
  EXPECT_EQ(got.options[1].short_name, "-o");
  EXPECT_EQ(got.options[1].name, "--out");
  EXPECT_EQ(got.options[1].value, "FILE");
  EXPECT_EQ(got.options[0].value, "");
  ASSERT_EQ(got.below.size(), 1U);
  const Command& twice = got.below[0].below.at(0);
  EXPECT_EQ(twice.name, "do twice");
  EXPECT_TRUE(twice.arguments[0].needed && twice.arguments[0].many);
  EXPECT_FALSE(twice.arguments[1].needed || twice.arguments[1].many);
}

TEST(UsageTest, AManPageHasEveryCommandAndOption) {
  const auto page =
      man_page(sample(), 1, "1.0", {{"Exit status", {{"0", "done"}}}}, ".BR other (8)");
  EXPECT_THAT(page,
              AllOf(HasSubstr(".TH PROG 1 \"\" \"prog 1.0\""), HasSubstr("One.\n.PP\nTwo."),
                    HasSubstr(".SS wait\n\\fBprog wait\\fR [\\fIOPTION\\fR...] \\fIJOB\\fR..."),
                    HasSubstr(".SS driver list\n"), Not(HasSubstr(".SS driver\n")),
                    HasSubstr("\\fB\\-p\\fR, \\fB\\-\\-path\\fR \\fIFOLDER\\fR\nThere")));
  EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS\n.TP\n\\fB0\\fR\ndone\n"));
}

TEST(UsageTest, ACommandThatAlsoHasCommandsBelowItIsInTheManPage) {
  CLI::App app{"does it", "prog"};
  app.require_subcommand(1);
  CLI::App* gates = app.add_subcommand("gates", "List them");
  bool json = false;
  gates->add_flag("--json", json, "As JSON");
  gates->add_subcommand("open", "Open one");
  EXPECT_THAT(man_page(command_of(app), 1, "1.0", {}, ""),
              AllOf(HasSubstr(".SS gates\n\\fBprog gates\\fR [\\fIOPTION\\fR...]\n"),
                    HasSubstr(".SS gates open\n")));
}

TEST(UsageTest, TextInAManPageIsNeverARequest) {
  Command odd = sample();
  odd.more = ".so /etc/passwd\n'quoted\nback\\slash";
  EXPECT_THAT(man_page(odd, 1, "1", {}, ""),
              HasSubstr("\n\\&.so /etc/passwd\n\\&'quoted\nback\\eslash\n"));
}

TEST(UsageTest, HelpIsAligned) {
  EXPECT_EQ(help_text({{"A", {{"x", "one"}, {"long", "two"}}}, {"B", {{"y", "three"}}}}),
            "A:\n  x     one\n  long  two\n\nB:\n  y  three");
}

TEST(UsageTest, ACompletionKnowsCommandsOptionsAndValues) {
  const auto script = bash_completion(
      sample(), {.words = {}, .asked = {{"JOB", {"jobs"}}}, .files = {}, .folders = {"FOLDER"}});
  EXPECT_THAT(script, AllOf(HasSubstr("complete -F _prog prog\n"),
                            HasSubstr("*\" \") words=\"wait driver\""),
                            HasSubstr("-*\" wait\") words=\"--json --url\""),
                            HasSubstr("*\" wait\") words=\"$(_prog_list jobs)\""),
                            HasSubstr("\"driver list\") command=\"driver list\""),
                            HasSubstr("\"driver list --path\"|\"driver list -p\") _prog_files -d"),
                            Not(HasSubstr("PROGRAM"))));
}

}  // namespace
}  // namespace hostler::usage
