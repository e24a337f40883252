#!/usr/bin/env python3
"""check_style.py notices what it is there for, and nothing else."""

import unittest

import check_style as style


class CoroutineTest(unittest.TestCase):
    def found(self, code):
        return len(list(style.coroutines("x.cc", code)))

    def test_accepts_named_arguments(self):
        for code in [
            "const auto n = co_await read(std::move(request), buffer);",
            "auto&& x = co_await f(y);",
            "if (a && b) co_await f(c);",
            "x = co_await f(a && b, c ? d : e);",
            "if (!co_await f(c)) {\n  x = a && b;\n}",
            "spawn([&]() -> awaitable<void> { co_await f(c); });",
            "co_await timer.async_wait(use_awaitable);  // && ||",
            'co_await f(name); log("a ? b : c && d");',
        ]:
            self.assertEqual(self.found(code), 0, code)

    def test_notices_temporaries(self):
        for code in [
            "co_await f(Request{a, b});",
            "co_await f({a, b});",
            "co_await session->f(x, [y] { return y; });",
            "co_await f(x, [y]() { return y; });",
            "co_await f<int>(std::string(x));",
            "auto x = co_await a::f(g(std::vector<int>(3)));",
        ]:
            self.assertEqual(self.found(code), 1, code)

    def test_notices_conditions(self):
        for code in [
            "auto x = a ? co_await f(b) : c;",
            "if (a && co_await f(b)) {\n}",
            "x = co_await f(b) || c;",
            "g(a && co_await f(b));",
            "if (z) x = co_await f(b) ||\n  c;",
        ]:
            self.assertEqual(self.found(code), 1, code)


class NameTest(unittest.TestCase):
    def test_notices_what_nothing_uses(self):
        code = "using a::b::Used;\n  using a::Other;\nUsed x; // Other\nconstexpr int kHere = 1;\n"
        found = list(style.unused("x.cc", code))
        self.assertEqual([one.split(": ")[1] for one in found], ["Other is not used", "kHere is not used"])
        self.assertEqual(list(style.unused("x.h", code)), [])

    def test_notices_two_constants_of_one_name_in_a_target(self):
        line = "constexpr std::size_t kMax = std::size_t{1};\n"
        files = {"core/a/CMakeLists.txt": "", "core/b/CMakeLists.txt": "", "core/a/in/one.cc": line,
                 "core/a/two.cc": line, "core/b/one.cc": line, "core/a/x.h": line,
                 "tests/a/one.cc": line, "tests/a/two.cc": line}
        self.assertEqual(list(style.constants(files)),
                         ["core/a/two.cc: kMax is in core/a/in/one.cc too; share it, or rename one"])


class DescriptorTest(unittest.TestCase):
    def found(self, code):
        return len(list(style.descriptors("core/x/x.cc", code)))

    def test_accepts_close_on_exec(self):
        for code in [
            "int fd = ::open(p, O_RDONLY | O_CLOEXEC);",
            "const UniqueFd fd(\n  ::open(p,\n  O_RDONLY | O_CLOEXEC));",
            "::pipe2(p, O_CLOEXEC);",
            "file.open(p); x->socket(); session.open(a);",
            "Result<int> Session::open(const Request& request) {",
            "open('{'); return open();",
            "Result<void> open(const std::string& path);",
            'std::fopen(p, "rbe");',
            "::dup2(a, 1); ::dup(a);  // inherited: the job's output",
        ]:
            self.assertEqual(self.found(code), 0, code)

    def test_notices_leaks(self):
        for code in [
            "int fd = ::open(p, O_RDONLY);",
            "return open(p, O_RDONLY);",
            "if (::pipe(p) != 0) return;",
            "std::ofstream out(p);",
            "::socketpair(AF_UNIX, SOCK_STREAM, 0, p);",
            "::dup(a);",
            'std::fopen(p, "rb");',
        ]:
            self.assertEqual(self.found(code), 1, code)


class ClassTest(unittest.TestCase):
    def sizes(self, body):
        code = f"struct X {{\n{body}\n}};\n"
        return next((members, methods) for _, _, members, methods in style.classes(code))

    def test_counts_members(self):
        for body, members in [
            ("int a, b = 2, c{3};", 3),
            ("std::map<int, std::string> a;\n std::function<void(int, int)> b = nullptr;", 2),
            ("Duration a = 1min, b = f(1, 2);", 2),
            ("std::uint64_t a HOSTLER_GUARDED_BY(mutex_) = 0;", 1),
            ("struct In {\n int x, y;\n bool operator==(const In&) const;\n};\n In in;", 1),
            ("struct {\n int x;\n} a, b;", 2),
            ("std::vector<V> a{V::kOne, V::kTwo};", 1),
            ("struct sockaddr_un address;", 1),
            ("static int a;\n using B = int;\n enum class C { kOne };\n friend class D;\n struct E;", 0),
        ]:
            self.assertEqual(self.sizes(body), (members, 0), body)

    def test_counts_methods(self):
        for body, methods in [
            ("X(int a) : a_(a), b_{a} {}\n ~X();", 2),
            ("[[nodiscard]] bool has(int a) const { return a < 3 && f(a); }\n void go();", 2),
            ("template <class T>\n void on(const T& t, int n = 0) {\n  if (n) { t.go(); }\n }", 1),
            ("X& operator=(const X&) = delete;\n bool operator()(int) const { return true; }", 2),
            ("public:\n auto f() -> std::pair<int, int>;\n private:\n virtual void g() = 0;", 2),
            ("friend bool operator==(const X&, const X&) = default;\n static X make();", 0),
        ]:
            self.assertEqual(self.sizes(body), (0, methods), body)

    def large(self, code, listing="", name="core/a/x.h"):
        files = {name: code, "tests/style/large_classes.txt": listing}
        return [one.split(": ", 1)[1] for one in style.large_classes(files)]

    def test_notices_large_classes_whatever_their_comments_say(self):
        many = "/// Its members are one row, and so are its methods.\nstruct X {\n" + "  int a;\n" * 16 + "};\n"
        self.assertEqual(self.large(many), ["X has 16 members; look for its second role"])
        self.assertEqual(self.large(many, name="tests/x.h"), [])
        class_x = "class X final : public Y {\n public:\n" + "  int f(int a, int b);\n" * 41 + "};\n"
        self.assertEqual(self.large(class_x), ["X has 41 methods; look for its second role"])
        self.assertEqual(self.large(class_x.replace("int f(int a, int b);", "int f(int a);", 1)
                                    .replace("  int f(int a, int b);\n", "", 1)), [])

    def test_accepts_large_classes_that_are_listed(self):
        many = "struct X {\n" + "  int a;\n" * 16 + "};\n"
        self.assertEqual(self.large(many, "# why\ncore/a/x.h X row\n"), [])
        self.assertEqual(len(self.large(many, "core/b/x.h X row\n")), 2, "another X")

    def test_notices_names_of_the_list_that_need_no_place_there(self):
        few = "struct X {\n  int a;\n};\n"
        self.assertEqual(self.large(few, "core/a/x.h X row\n"), ["X of core/a/x.h is not large"])
        many = "struct X {\n" + "  int a;\n" * 16 + "};\n"
        self.assertEqual(self.large(many, "core/a/x.h X busy\n"), ["X: 'busy' is no reason for a large class"])


class TreeTest(unittest.TestCase):
    def test_notices_paths_of_one_machine(self):
        for line in ["see /work/tree/x", 'open("/home/joe/x")', "https://nexus.corp.example/apt"]:
            self.assertEqual(len(list(style.machines("a.md", line))), 1, line)
        for line in ["core/work/job.h", "/home/user/src", "tests/unit/work/x", "${X}/work/y"]:
            self.assertEqual(list(style.machines("a.md", line)), [], line)

    def test_notices_conflicts_of_merges(self):
        text = "a\n" + "<" * 7 + " main\nb\n=======\nc\n" + ">" * 7 + " other\n"
        self.assertEqual([p.split(":")[1] for p in style.conflicts("a.md", text)], ["2", "6"])
        for fine in ["Title\n=======\n", "cat <<<<<<< x\n", ">>>>>>>> quoted\n"]:
            self.assertEqual(list(style.conflicts("a.md", fine)), [], fine)

    def test_notices_long_files_that_are_not_listed(self):
        files = {"core/a.cc": "x\n" * 401, "core/b.cc": "x\n" * 400, "core/c.cc": "x\n" * 900}
        found = list(style.lengths(files, {"core/c.cc"}))
        self.assertEqual([f.split(":")[0] for f in found], ["core/a.cc"])

    def test_counts_costly_includes(self):
        files = {f"core/api/{i}.cc": "#include <boost/beast/core.hpp>\n" for i in range(5)}
        self.assertEqual(len(list(style.includes(files))), 1)
        files.popitem()
        self.assertEqual(list(style.includes(files)), [])

    def test_notices_readme_commands_that_do_not_exist(self):
        files = {
            "README.md": "```\n./hostler.sh demo\n./hostler.sh fly\n$ hostler jobs\nhostler swim\n```\n",
            "hostler.sh": "  demo)\n",
            "core/cli/main.cc": '"jobs"',
        }
        self.assertEqual(len(list(style.readme(files))), 2)


if __name__ == "__main__":
    unittest.main()
