#include "tests/unit/api/fake_service.h"

namespace hostler::api {

void FakeService::push(const Principal& who, const std::string& pool, model::Push push,
                       Answer<model::PushAnswer> answer) {
  note("push for " + pool + " by " + who.name);
  pushed = std::move(push);
  give(answer, push_answer);
}

void FakeService::scaling_info(const Principal& who, const std::string& pool,
                               Answer<model::ScalingInfoView> answer) {
  note("scaling_info of " + pool + " by " + who.name);
  give(answer, scaling);
}

}  // namespace hostler::api
