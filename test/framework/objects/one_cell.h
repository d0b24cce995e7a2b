// SPDX-License-Identifier: MIT
// One cell of an owner with epoch 1, called in the place of its host; there are no other turns.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_cell.h"
#include "framework/store/memory_store.h"
#include "framework/wire/objects.pb.h"
#include "test/framework/puppet_stage.h"
#include "test/framework/store/faulty_store.h"

namespace corolane::test {

class OneCell : public testing::Test {
 protected:
  using ObjectCell = framework::detail::ObjectCell;

  static constexpr framework::ObjectKey key = {.type = "corolane.test.Puppet", .id = "a"};

  std::unique_ptr<ObjectCell> make_cell(PuppetStage& stage) {
    return stage.make_cell(stage.type, key.id);
  }
  Result<void> activate() { return cell_->activate(Deadline::after(std::chrono::seconds(10))); }
  Result<void> save() { return cell_->save(Deadline::after(std::chrono::seconds(10))); }
  void set(std::int64_t value) { puppet_of(*cell_).change().set_value(value); }
  static Puppet& puppet_of(ObjectCell& cell) { return static_cast<Puppet&>(cell.object()); }
  static std::int64_t value_of(ObjectCell& cell) { return puppet_of(cell).state().value(); }
  // An active object with a stored value.
  void activate_with(std::int64_t value) {
    ASSERT_TRUE(activate());
    set(value);
    ASSERT_TRUE(save());
  }
  // A later owner loads the object, and stores its value plus one.
  void let_next_owner_write() {
    PuppetStage next(table_, strings_, 2);
    const auto cell = make_cell(next);
    ASSERT_TRUE(cell->activate(Deadline::never()));
    puppet_of(*cell).change().set_value(value_of(*cell) + 1);
    ASSERT_TRUE(cell->save(Deadline::never()));
  }
  std::int64_t stored_value() const {
    framework::ObjectRecord record;
    PuppetState state;
    EXPECT_TRUE(record.ParseFromString(table_.look(key).object.bytes));
    EXPECT_TRUE(state.ParseFromString(record.state()));
    return state.value();
  }
  std::uint64_t sealed_by() const { return table_.look(key).epoch; }

  framework::MemoryStore table_;
  FaultyStore store_{table_};
  Puppet::Strings strings_;
  PuppetStage stage_{store_, strings_};
  std::unique_ptr<ObjectCell> cell_ = make_cell(stage_);
};

}  // namespace corolane::test
