#include "core/dispatch/immediate_effects.h"

#include <gmock/gmock.h>

namespace hostler::dispatch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::VariantWith;

TEST(ImmediateEffectsTest, QuestionsDoNotWaitForACommitAndAllElseDoesInOrder) {
  Outbox outbox;
  outbox.effects = {CreateCall{},  MakePlan{},
                    Reply{},       ListCall{},
                    TagsCall{},    PricesCall{},
                    PowerCall{},   OpenSet{},
                    DestroyCall{}, model::HostCommand(model::StartAttempt{})};

  const auto immediate = take_immediate(outbox);

  EXPECT_THAT(immediate,
              ElementsAre(VariantWith<MakePlan>(testing::_), VariantWith<ListCall>(testing::_),
                          VariantWith<PricesCall>(testing::_), VariantWith<OpenSet>(testing::_)));
  EXPECT_THAT(outbox.effects,
              ElementsAre(VariantWith<CreateCall>(testing::_), VariantWith<Reply>(testing::_),
                          VariantWith<TagsCall>(testing::_), VariantWith<PowerCall>(testing::_),
                          VariantWith<DestroyCall>(testing::_),
                          VariantWith<model::HostCommand>(testing::_)));
}

TEST(ImmediateEffectsTest, LeavesAnOutboxWithoutQuestionsAsItIs) {
  Outbox outbox;
  outbox.effects = {Reply{}};

  EXPECT_THAT(take_immediate(outbox), IsEmpty());
  EXPECT_EQ(outbox.effects.size(), 1U);
}

}  // namespace
}  // namespace hostler::dispatch
