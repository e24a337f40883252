#include "core/api/views_json.h"
#include "tests/unit/api/fake_service.h"
#include "tests/unit/api/wire.h"

/// Kinds of gpus in requests and answers, by a real server with a fake daemon behind it.
namespace hostler::api {
namespace {

using testing::HasSubstr;

class GpuRequestTest : public ApiTest {
 protected:
  Reply ask(const std::string& target, const std::string& body) {
    return Wire::to_socket(socket).ask("POST", target, body, "");
  }
};

TEST_F(GpuRequestTest, ADryRunAsksForTheSameGpusAsTheSubmit) {
  const std::string body =
      R"({"jobs": [{"script": "true", "needs": {"gpus": {"count": 2, "kind": "a100"}}}]})";
  for (const char* target : {"/v1/jobs", "/v1/dry-run"}) {
    EXPECT_EQ(ask(target, body).status, 200) << target;
    const model::WorkItem item = service.submitted().at(0);
    const auto& shape = item.shape;
    EXPECT_EQ(shape.needs.gpus, 2) << target;
    EXPECT_EQ(shape.constraints.gpu, (model::GpuWish{.kind = "a100", .memory = 0})) << target;
  }
}

TEST_F(GpuRequestTest, ARefusalNamesTheNearestType) {
  service.error = Error{Errc::kInvalidArgument,
                        "no instance type of this site can ever run it; nearest: small has 0 of 2 "
                        "gpus of kind a100",
                        {}};
  const auto got = ask("/v1/jobs", R"({"jobs": [{"script": "true", "needs": {"gpus": {"count": 2,
      "kind": "a100"}}}]})");
  EXPECT_EQ(got.status, 400);
  EXPECT_THAT(got.message(), HasSubstr("nearest: small has 0 of 2 gpus of kind a100"));
}

TEST(GpusOfAnswersTest, ATypeSaysWhichItHas) {
  const auto shown = [](std::int32_t count, model::GpuGroups groups) {
    model::TypeView view;
    view.resources.gpus = count;
    view.gpu_groups = std::move(groups);
    std::string out;
    json::Writer w(out);
    write_type(w, view);
    return out;
  };
  const model::GpuGroup a100{.kind = "a100", .memory = std::int64_t{40} << 30, .count = 8};
  EXPECT_THAT(shown(0, {}), HasSubstr(R"("gpus":0,)"));
  EXPECT_THAT(shown(2, {}), HasSubstr(R"("gpus":2,)"));
  EXPECT_THAT(shown(8, {a100}), HasSubstr(R"("gpus":{"count":8,"kind":"a100","memory":"40GiB"},)"));
  EXPECT_THAT(shown(9, {a100, {.kind = "t4", .memory = 0, .count = 1}}),
              HasSubstr(R"("gpus":[{"count":8,"kind":"a100","memory":"40GiB"},)"
                        R"({"count":1,"kind":"t4"}],)"));
}

}  // namespace
}  // namespace hostler::api
