// SPDX-License-Identifier: MIT
#include "coroutine/detail/list.h"

#include <gtest/gtest.h>

#include <vector>

namespace corolane::coroutine::detail {
namespace {

struct Item : ListNode<struct LeftTag>, ListNode<struct RightTag> {
  explicit Item(int own_number) : number(own_number) {}
  int number;
};
using LeftList = List<Item, LeftTag>;
using RightList = List<Item, RightTag>;

template <typename AnyList>
std::vector<int> numbers_in(const AnyList& list) {
  std::vector<int> numbers;
  list.for_each([&](const Item& item) { numbers.push_back(item.number); });
  return numbers;
}

class ListTest : public testing::Test {
 protected:
  ListTest() {
    for (Item* item : {&one_, &two_, &three_}) left_.push_back(*item);
  }

  Item one_{1};
  Item two_{2};
  Item three_{3};
  LeftList left_;
};

TEST_F(ListTest, KeepsTheOrderOfInsertion) {
  EXPECT_EQ(numbers_in(left_), std::vector({1, 2, 3}));
  EXPECT_EQ(&left_.front(), &one_);
  EXPECT_EQ(&left_.pop_front(), &one_);
  EXPECT_EQ(numbers_in(left_), std::vector({2, 3}));
}

TEST_F(ListTest, AnElementCanBeUnlinkedAnywhere) {
  static_cast<ListNode<LeftTag>&>(two_).unlink();
  EXPECT_EQ(numbers_in(left_), std::vector({1, 3}));
  left_.push_back(two_);
  EXPECT_EQ(numbers_in(left_), std::vector({1, 3, 2}));
}

TEST_F(ListTest, AnElementIsOnSeveralListsAtOnce) {
  RightList right;
  right.push_back(three_);
  right.push_back(one_);
  EXPECT_EQ(numbers_in(right), std::vector({3, 1}));
  EXPECT_EQ(numbers_in(left_), std::vector({1, 2, 3}));
}

TEST_F(ListTest, AVisitMayEndTheIteration) {
  std::vector<int> numbers;
  left_.for_each_while([&](const Item& item) {
    numbers.push_back(item.number);
    return item.number < 2;
  });
  EXPECT_EQ(numbers, std::vector({1, 2}));
}

TEST_F(ListTest, AVisitMayBeginAtTheEnd) {
  std::vector<int> numbers;
  left_.for_each_back_while([&](const Item& item) {
    numbers.push_back(item.number);
    return item.number > 2;
  });
  EXPECT_EQ(numbers, std::vector({3, 2}));
}

TEST_F(ListTest, AVisitMayUnlinkItsElement) {
  left_.for_each([](Item& item) { static_cast<ListNode<LeftTag>&>(item).unlink(); });
  EXPECT_TRUE(left_.empty());
}

}  // namespace
}  // namespace corolane::coroutine::detail
