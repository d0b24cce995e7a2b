// SPDX-License-Identifier: MIT
#include "framework/objects/detail/object_cell.h"

#include <gmock/gmock.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "test/framework/objects/one_cell.h"
#include "test/framework/puppet_stage.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::Puppet;
using testing::HasSubstr;

using ObjectCellTest = test::OneCell;

TEST_F(ObjectCellTest, AnActivationSealsTheObjectAndLoadsNothingThatWasNeverStored) {
  EXPECT_FALSE(cell_->is_active());
  ASSERT_TRUE(activate());
  EXPECT_TRUE(cell_->is_active());
  EXPECT_EQ(cell_->epoch(), 1U);
  EXPECT_EQ(cell_->version(), 0U);
  EXPECT_EQ(sealed_by(), 1U);
  EXPECT_EQ(puppet_of(*cell_).id(), "a");
  EXPECT_EQ(value_of(*cell_), 0);
}

TEST_F(ObjectCellTest, AnActivationLoadsWhatAnEarlierOwnerStored) {
  activate_with(7);
  test::PuppetStage next(store_, strings_, 5);
  const auto cell = make_cell(next);
  ASSERT_TRUE(cell->activate(Deadline::never()));
  EXPECT_EQ(cell->epoch(), 5U);
  EXPECT_EQ(cell->version(), 1U);
  EXPECT_EQ(value_of(*cell), 7);
  EXPECT_FALSE(cell->is_changed());
}

TEST_F(ObjectCellTest, AnActivationWithoutOwnershipDoesNotAskTheStore) {
  stage_.own_all(0);
  EXPECT_THAT(activate(), fails_with(Code::aborted));
  stage_.own_all(1);
  stage_.fence.set(TimePoint::min());
  EXPECT_THAT(activate(), fails_with(Code::aborted));
  EXPECT_EQ(store_.seal_count, 0);
}

TEST_F(ObjectCellTest, AnActivationAfterALaterOwnerFails) {
  let_next_owner_write();
  EXPECT_THAT(activate(), fails_with(Code::aborted));
  EXPECT_FALSE(cell_->is_active());
  EXPECT_FALSE(cell_->has_abandoned_seal());
}

TEST_F(ObjectCellTest, AnUnreachableStoreFailsTheActivationAndLeavesNoSeal) {
  store_.cut();
  EXPECT_THAT(activate(), fails_with(Code::unavailable));
  EXPECT_FALSE(cell_->has_abandoned_seal()) << "it did not reach the store";
  store_.mend();
  EXPECT_TRUE(activate());
}

// No handler has begun, whatever became of the seal.
TEST_F(ObjectCellTest, ASealWithoutAnAnswerIsAbandonedAndCanBeReleased) {
  store_.loses_answers_of_seals = true;
  const auto lost = activate();
  ASSERT_THAT(lost, fails_with(Code::deadline_exceeded));
  EXPECT_FALSE(lost.error().maybe_executed());
  EXPECT_TRUE(cell_->has_abandoned_seal());
  EXPECT_EQ(sealed_by(), 1U);
  cell_->release_abandoned_seal(Deadline::after(1s));
  EXPECT_FALSE(cell_->has_abandoned_seal());
  EXPECT_EQ(sealed_by(), 0U);
}

TEST_F(ObjectCellTest, ALaterActivationKeepsAnAbandonedSeal) {
  store_.loses_answers_of_seals = true;
  EXPECT_FALSE(activate());
  store_.loses_answers_of_seals = false;
  ASSERT_TRUE(activate());
  EXPECT_FALSE(cell_->has_abandoned_seal());
  cell_->release_abandoned_seal(Deadline::after(1s));
  EXPECT_EQ(sealed_by(), 1U);
  set(1);
  EXPECT_TRUE(save());
}

TEST_F(ObjectCellTest, AFailedOnActivateDropsTheObjectAndAbandonsItsSeal) {
  int made_count = 0;
  strings_.on_activate = [&](Puppet& puppet) -> Result<void> {
    puppet.change().set_value(++made_count);
    if (made_count == 1) return Error(Code::not_found, "no such puppet");
    return {};
  };
  EXPECT_THAT(activate(), fails_with(Code::not_found));
  EXPECT_FALSE(cell_->is_active());
  EXPECT_FALSE(cell_->is_changed());
  EXPECT_TRUE(cell_->has_abandoned_seal());
  ASSERT_TRUE(activate());
  EXPECT_EQ(value_of(*cell_), 2);
}

// Its row is there anyway, and a seal in it protects it from earlier owners.
TEST_F(ObjectCellTest, AStoredObjectKeepsTheSealOfAFailedActivation) {
  activate_with(7);
  cell_->drop();
  strings_.on_activate = [](Puppet&) -> Result<void> {
    return Error(Code::not_found, "no such puppet");
  };
  EXPECT_FALSE(activate());
  EXPECT_FALSE(cell_->has_abandoned_seal());
  EXPECT_EQ(sealed_by(), 1U);
}

TEST_F(ObjectCellTest, AStateThatCannotBeReadIsDataLoss) {
  ASSERT_TRUE(table_.seal(key, 1, Deadline::never()));
  ASSERT_TRUE(table_.write(key, 1, 0, {.bytes = "\xff\xff"}, Deadline::never()));
  const auto read = activate();
  ASSERT_THAT(read, fails_with(Code::data_loss));
  EXPECT_THAT(read.error().message(), HasSubstr("corolane.test.Puppet \"a\""));
  EXPECT_FALSE(cell_->is_active());
  EXPECT_EQ(table_.look(key).object.bytes, "\xff\xff") << "it is kept for its repair";
}

TEST_F(ObjectCellTest, ARecordKeepsTheFieldsThatALaterBuildHasStored) {
  ASSERT_TRUE(table_.seal(key, 1, Deadline::never()));
  ObjectRecord later;
  ObjectRecord::GetReflection()->MutableUnknownFields(&later)->AddLengthDelimited(
      1'000, "of a later build");
  ASSERT_TRUE(table_.write(key, 1, 0, {.bytes = later.SerializeAsString()}, Deadline::never()));
  activate_with(7);
  EXPECT_EQ(stored_value(), 7);
  ObjectRecord stored;
  ASSERT_TRUE(stored.ParseFromString(table_.look(key).object.bytes));
  const auto& kept = ObjectRecord::GetReflection()->GetUnknownFields(stored);
  ASSERT_EQ(kept.field_count(), 1);
  EXPECT_EQ(kept.field(0).length_delimited(), "of a later build");

  cell_->destroy();
  ASSERT_TRUE(save());
  ASSERT_TRUE(stored.ParseFromString(table_.look(key).object.bytes));
  EXPECT_TRUE(kept.empty()) << "a destroyed object leaves nothing";
}

TEST_F(ObjectCellTest, AnUnchangedObjectIsNotWritten) {
  ASSERT_TRUE(activate());
  EXPECT_TRUE(save());
  EXPECT_EQ(store_.write_count, 0);
}

TEST_F(ObjectCellTest, EachSaveOfAChangeIsOneVersion) {
  ASSERT_TRUE(activate());
  for (int i = 1; i <= 3; ++i) {
    set(i);
    EXPECT_TRUE(cell_->is_changed());
    ASSERT_TRUE(save());
    EXPECT_FALSE(cell_->is_changed());
    EXPECT_EQ(cell_->version(), static_cast<std::uint64_t>(i));
    EXPECT_EQ(table_.look(key).object.version, cell_->version());
    EXPECT_EQ(stored_value(), i);
  }
  EXPECT_EQ(store_.write_count, 3);
  EXPECT_EQ(stage_.type.counts.save_count, 3U);
}

TEST_F(ObjectCellTest, AChangeCountsFromItsBeginning) {
  ASSERT_TRUE(activate());
  ASSERT_TRUE(coroutine::sleep_for(1s));
  set(1);
  const TimePoint changed_at = now();
  ASSERT_TRUE(coroutine::sleep_for(1s));
  set(2);
  EXPECT_EQ(cell_->changed_since(), changed_at);
}

TEST_F(ObjectCellTest, AFailedSaveKeepsTheChange) {
  ASSERT_TRUE(activate());
  set(1);
  store_.cut();
  EXPECT_THAT(save(), fails_with(Code::unavailable));
  EXPECT_TRUE(cell_->is_active());
  EXPECT_TRUE(cell_->is_changed());
  EXPECT_EQ(stage_.type.counts.failed_save_count, 1U);
  ASSERT_TRUE(cell_->history().failed_save());
  EXPECT_EQ(cell_->history().failed_save()->error.code(), Code::unavailable);
  store_.mend();
  EXPECT_EQ(store_.seal_count, 1);
  EXPECT_TRUE(save());
  EXPECT_EQ(store_.seal_count, 1) << "its outcome was certain";
  EXPECT_EQ(stored_value(), 1);
}

TEST_F(ObjectCellTest, AWriteWithoutAnAnswerIsLookedUpBeforeTheNext) {
  ASSERT_TRUE(activate());
  set(1);
  store_.loses_answers_of_writes = true;
  EXPECT_THAT(save(), fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(cell_->is_changed());
  EXPECT_EQ(cell_->version(), 0U);
  store_.loses_answers_of_writes = false;
  set(2);
  ASSERT_TRUE(save());
  EXPECT_EQ(cell_->version(), 2U) << "the first write had been made";
  EXPECT_EQ(stored_value(), 2);
}

TEST_F(ObjectCellTest, AWriteThatWasNeverMadeIsMadeAgain) {
  ASSERT_TRUE(activate());
  set(1);
  store_.set_before_write([](const ObjectKey&) -> Result<void> {
    return Error(Code::deadline_exceeded, "lost on its way").with_maybe_executed();
  });
  EXPECT_FALSE(save());
  store_.set_before_write(nullptr);
  ASSERT_TRUE(save());
  EXPECT_EQ(cell_->version(), 1U);
  EXPECT_EQ(stored_value(), 1);
}

TEST_F(ObjectCellTest, AnOutcomeThatStaysUnknownFailsTheSaveAndKeepsTheObject) {
  ASSERT_TRUE(activate());
  set(1);
  store_.loses_answers_of_writes = true;
  EXPECT_FALSE(save());
  store_.cut();
  EXPECT_THAT(save(), fails_with(Code::unavailable));
  EXPECT_TRUE(cell_->is_active());
  store_.mend();
  store_.loses_answers_of_writes = false;
  EXPECT_TRUE(save());
  EXPECT_EQ(cell_->version(), 2U);
}

TEST_F(ObjectCellTest, APastOwnerIsRefusedAndLosesTheObject) {
  activate_with(7);
  let_next_owner_write();
  set(100);
  EXPECT_THAT(save(), fails_with(Code::aborted));
  EXPECT_FALSE(cell_->is_active());
  EXPECT_TRUE(cell_->has_stale_object());
  EXPECT_EQ(stored_value(), 8);
  const int write_count = store_.write_count;
  EXPECT_THAT(save(), fails_with(Code::aborted));
  EXPECT_EQ(store_.write_count, write_count) << "it does not ask again";
}

TEST_F(ObjectCellTest, AnUnknownOutcomeUnderALaterOwnerLosesTheObject) {
  activate_with(7);
  set(8);
  store_.loses_answers_of_writes = true;
  EXPECT_FALSE(save());
  store_.loses_answers_of_writes = false;
  let_next_owner_write();
  EXPECT_THAT(save(), fails_with(Code::aborted));
  EXPECT_FALSE(cell_->is_active());
  EXPECT_EQ(stored_value(), 9);
}

// Nobody else writes under this epoch, so the store was set back, or changed by others.
TEST_F(ObjectCellTest, AGapInTheVersionsIsDataLoss) {
  activate_with(7);
  set(8);
  store_.loses_answers_of_writes = true;
  EXPECT_FALSE(save());
  store_.loses_answers_of_writes = false;
  ASSERT_TRUE(table_.write(key, 1, 2, {.bytes = ""}, Deadline::never()));
  EXPECT_THAT(save(), fails_with(Code::data_loss));
  EXPECT_FALSE(cell_->is_active());
}

// Two nodes have the same epoch when the directory was set back.
TEST_F(ObjectCellTest, AWriteOfAnotherNodeUnderTheSameEpochIsDataLoss) {
  activate_with(7);
  ASSERT_TRUE(table_.write(key, 1, 1, {.bytes = ""}, Deadline::never()));
  set(8);
  EXPECT_THAT(save(), fails_with(Code::data_loss));
  EXPECT_FALSE(cell_->is_active());
}

// The next activation has the same epoch, and may have stored the version that the write replaces.
TEST_F(ObjectCellTest, AWriteThatWasUnderWayWhenTheStoreWasSetBackComesTooLate) {
  activate_with(7);
  const auto former = table_.tables();
  set(8);
  ASSERT_TRUE(save());
  set(9);
  store_.set_before_write([](const ObjectKey&) -> Result<void> {
    return Error(Code::deadline_exceeded, "it is under way").with_maybe_executed();
  });
  EXPECT_FALSE(save());
  table_.set_back(*former);
  EXPECT_THAT(save(), fails_with(Code::data_loss));
  store_.set_before_write({});
  cell_->drop();
  ASSERT_TRUE(activate());
  set(10);
  ASSERT_TRUE(save());
  EXPECT_FALSE(table_.write(key, 1, 2, {.bytes = "late"}, Deadline::never()));
  set(11);
  EXPECT_TRUE(save());
  EXPECT_EQ(stored_value(), 11);
}

TEST_F(ObjectCellTest, ALateWriteOfItsOwnIsReplaced) {
  activate_with(7);
  set(8);
  store_.set_before_write([](const ObjectKey&) -> Result<void> {
    return Error(Code::deadline_exceeded, "it is under way").with_maybe_executed();
  });
  EXPECT_FALSE(save());
  bool has_arrived = false;
  store_.set_before_write([&](const ObjectKey&) -> Result<void> {
    if (std::exchange(has_arrived, true)) return {};
    return table_.write(key, 1, 1, {.bytes = "late"}, Deadline::never());
  });
  EXPECT_TRUE(save());
  EXPECT_EQ(stored_value(), 8);
  EXPECT_EQ(cell_->version(), 3U);
}

TEST_F(ObjectCellTest, AHiddenChangeIsVisibleWhenItIsStored) {
  ASSERT_TRUE(activate());
  set(1);
  cell_->hide_change();
  EXPECT_TRUE(cell_->hides_change());
  store_.cut();
  EXPECT_FALSE(save());
  EXPECT_TRUE(cell_->hides_change());
  store_.mend();
  EXPECT_TRUE(save());
  EXPECT_FALSE(cell_->hides_change());
}

TEST_F(ObjectCellTest, TheLedgerIsStoredWithTheState) {
  ASSERT_TRUE(activate());
  const rpc::RequestId id{.caller = "ada", .sequence = 1};
  cell_->ledger(id).add(id, 7, "done", cell_->wall_clock().now());
  set(1);
  ASSERT_TRUE(save());
  test::PuppetStage next(store_, strings_, 2);
  const auto cell = make_cell(next);
  ASSERT_TRUE(cell->activate(Deadline::never()));
  const auto found = cell->ledger(id).find(id, 7, cell->wall_clock().now());
  ASSERT_TRUE(found) << found.error();
  ASSERT_NE(*found, nullptr);
  EXPECT_EQ(**found, "done");
}

TEST_F(ObjectCellTest, AChangedOwnershipMakesTheObjectStale) {
  EXPECT_FALSE(cell_->has_stale_object()) << "there is none";
  ASSERT_TRUE(activate());
  EXPECT_TRUE(cell_->is_current());
  stage_.own_all(2);
  EXPECT_TRUE(cell_->is_active());
  EXPECT_FALSE(cell_->is_current());
  EXPECT_TRUE(cell_->has_stale_object());
  EXPECT_FALSE(cell_->is_owned());
}

TEST_F(ObjectCellTest, AFallenFenceEndsTheOwnership) {
  ASSERT_TRUE(activate());
  stage_.fence.set(now() + 1s);
  EXPECT_TRUE(cell_->is_owned());
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_FALSE(cell_->is_owned());
  EXPECT_TRUE(cell_->is_current()) << "the same owner may go on when its fence is raised";
}

TEST_F(ObjectCellTest, ADeactivationStoresWhatOnDeactivateChanged) {
  activate_with(1);
  strings_.on_deactivate = [](Puppet& puppet) { puppet.change().set_value(2); };
  ASSERT_TRUE(cell_->deactivate(Deadline::after(1s), /*releases=*/true));
  EXPECT_FALSE(cell_->is_active());
  EXPECT_EQ(stored_value(), 2);
}

TEST_F(ObjectCellTest, AnObjectThatCannotBeStoredStays) {
  activate_with(1);
  set(2);
  store_.cut();
  EXPECT_THAT(cell_->deactivate(Deadline::after(1s), /*releases=*/true),
              fails_with(Code::unavailable));
  EXPECT_TRUE(cell_->is_active());
  EXPECT_EQ(value_of(*cell_), 2);
  store_.mend();
  EXPECT_TRUE(cell_->deactivate(Deadline::after(1s), /*releases=*/true));
  EXPECT_EQ(stored_value(), 2);
}

TEST_F(ObjectCellTest, ALostObjectLeavesWithoutANotice) {
  activate_with(1);
  let_next_owner_write();
  set(100);
  ASSERT_FALSE(save());
  bool was_told = false;
  strings_.on_deactivate = [&](Puppet&) { was_told = true; };
  EXPECT_TRUE(cell_->deactivate(Deadline::after(1s), /*releases=*/true));
  EXPECT_FALSE(cell_->has_stale_object());
  EXPECT_FALSE(was_told);
  EXPECT_EQ(stored_value(), 2);
}

TEST_F(ObjectCellTest, AnObjectLostAtItsDeactivationIsDropped) {
  activate_with(1);
  let_next_owner_write();
  set(100);
  EXPECT_THAT(cell_->deactivate(Deadline::after(1s), /*releases=*/true), fails_with(Code::aborted));
  EXPECT_FALSE(cell_->has_stale_object());
  EXPECT_EQ(stored_value(), 2);
}

TEST_F(ObjectCellTest, AnExceptionOfOnDeactivateDoesNotKeepTheObject) {
  activate_with(1);
  strings_.on_deactivate = [](Puppet& puppet) {
    puppet.change().set_value(2);
    throw std::runtime_error("as the test wants");
  };
  EXPECT_TRUE(cell_->deactivate(Deadline::after(1s), /*releases=*/true));
  EXPECT_FALSE(cell_->is_active());
  EXPECT_EQ(stored_value(), 2);
}

TEST_F(ObjectCellTest, ADeactivationReleasesTheSealOfAnObjectThatWasOnlyRead) {
  ASSERT_TRUE(activate());
  ASSERT_TRUE(cell_->deactivate(Deadline::after(1s), /*releases=*/false));
  EXPECT_EQ(sealed_by(), 1U);
  ASSERT_TRUE(activate());
  ASSERT_TRUE(cell_->deactivate(Deadline::after(1s), /*releases=*/true));
  EXPECT_EQ(sealed_by(), 0U);
}

TEST_F(ObjectCellTest, ADroppedObjectIsForgottenUnsaved) {
  activate_with(1);
  set(2);
  cell_->hide_change();
  cell_->drop();
  EXPECT_FALSE(cell_->is_active());
  EXPECT_FALSE(cell_->is_changed());
  EXPECT_FALSE(cell_->hides_change());
  EXPECT_EQ(cell_->size_bytes(), 0U);
  EXPECT_EQ(stored_value(), 1);
  ASSERT_TRUE(activate());
  EXPECT_EQ(value_of(*cell_), 1);
}

TEST_F(ObjectCellTest, AHandlerOutsideItsTurnIsWokenWhenTheObjectCloses) {
  ASSERT_TRUE(activate());
  coroutine::Event event("an event");
  auto waiting = coroutine::spawn(
      "handler", [&] { return cell_->wait_outside(event, Deadline::after(1min)); });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_FALSE(waiting.is_done());
  const TimePoint start = now();
  std::optional<ObjectCell::Closing> closing(std::in_place, *cell_);
  EXPECT_THAT(waiting.join(Deadline::never()), fails_with(Code::aborted));
  EXPECT_EQ(now(), start);
  EXPECT_THAT(cell_->wait_outside(event, Deadline::never()), fails_with(Code::aborted));
  closing.reset();
  EXPECT_THAT(cell_->wait_outside(event, Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  event.set();
  EXPECT_TRUE(cell_->wait_outside(event, Deadline::never()));
}

TEST_F(ObjectCellTest, AHandlerThatWaitsForATurnIsSentAwayByTheTaskThatClosesTheObject) {
  ASSERT_TRUE(activate());
  ObjectCell::Closing closing(*cell_);
  ASSERT_TRUE(cell_->turn().try_lock_until(Deadline::never()));
  const auto come_back = [this] {
    ObjectCell::WayBack way(*cell_);
    EXPECT_FALSE(cell_->turn().try_lock_until(Deadline::never()));
    return way.is_closed();
  };
  auto early = coroutine::spawn("early", come_back);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_FALSE(early.is_done()) << "the turn may come before the object closes";
  closing.has_turn();
  EXPECT_TRUE(early.join(Deadline::never()));
  EXPECT_TRUE(coroutine::spawn("late", come_back).join(Deadline::never()));
  cell_->turn().unlock();
}

// A handler outside uses the object until it has left, though the task that drops it is cancelled.
TEST_F(ObjectCellTest, ADropWaitsForTheHandlersOutside) {
  ASSERT_TRUE(activate());
  cell_->go_outside();
  cell_->go_outside();
  auto dropping = coroutine::spawn("drop", [&] { cell_->drop(); });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  dropping.cancel();
  cell_->come_back();
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_TRUE(cell_->is_active());
  cell_->come_back();
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_FALSE(cell_->is_active());
  static_cast<void>(dropping.join(Deadline::never()));
}

TEST_F(ObjectCellTest, RunningHandlersAreCancelledAlone) {
  std::vector<coroutine::Task<Code>> tasks;
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(coroutine::spawn("handler", [&] {
      Code inside = Code::unknown;
      {
        const ObjectCell::Handler handler(*cell_, Deadline::never());
        const auto slept = coroutine::sleep_for(1h);
        EXPECT_TRUE(handler.is_cancelled());
        inside = slept ? Code::unknown : slept.error().code();
      }
      EXPECT_TRUE(coroutine::sleep_for(1ms)) << "the rest of the task continues";
      return inside;
    }));
  }
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const TimePoint start = now();
  cell_->cancel_handlers();
  for (auto& task : tasks) EXPECT_EQ(task.join(Deadline::never()), Code::cancelled);
  EXPECT_EQ(now() - start, 1ms);
}

TEST_F(ObjectCellTest, ARunningHandlerIsFoundByItsRequest) {
  const rpc::RequestId first{.caller = "ada", .sequence = 1};
  const rpc::RequestId second{.caller = "ada", .sequence = 2};
  EXPECT_EQ(cell_->find_handler(first), nullptr);
  std::optional<ObjectCell::Handler> handler;
  std::optional<ObjectCell::Handler> nested;
  handler.emplace(*cell_, Deadline::never(), first);
  nested.emplace(*cell_, Deadline::never(), second);
  EXPECT_EQ(cell_->find_handler(first), &*handler);
  EXPECT_EQ(cell_->find_handler(second), &*nested);
  const auto ended = nested->ended();
  EXPECT_FALSE(ended->is_set());
  nested.reset();
  EXPECT_TRUE(ended->is_set());
  EXPECT_EQ(cell_->find_handler(second), nullptr);
  EXPECT_EQ(cell_->find_handler(first), &*handler);
  handler.reset();
}

TEST_F(ObjectCellTest, ItsSizeIncludesItsStateAndLedger) {
  ASSERT_TRUE(activate());
  const std::size_t empty = cell_->size_bytes();
  EXPECT_GT(empty, sizeof(ObjectCell) + sizeof(Puppet));
  cell_->ledger({}).add({.caller = "ada", .sequence = 1}, 7, std::string(10'000, 'x'),
                        cell_->wall_clock().now());
  cell_->measure();
  EXPECT_GT(cell_->size_bytes(), empty + 10'000);
  EXPECT_LT(cell_->size_bytes(), empty + 11'000);
  const auto long_named = stage_.make_cell(stage_.type, std::string(1'000, 'x'));
  ASSERT_TRUE(long_named->activate(Deadline::never()));
  EXPECT_NEAR(static_cast<double>(long_named->size_bytes() - empty), 1'000, 24);
}

}  // namespace
}  // namespace corolane::framework::detail
