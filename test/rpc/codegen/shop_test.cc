// SPDX-License-Identifier: MIT
// Services that are split over files, packages and libraries, or named like C++ things.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "coroutine/base/deadline.h"
#include "net/testing/network.h"
#include "rpc/client/client.h"
#include "rpc/server/server.h"
#include "test/rpc/codegen/stationery/shop.corolane.h"
#include "test/rpc/codegen/unscoped.corolane.h"

namespace corolane::codegen_test {
namespace {

using namespace std::chrono_literals;

class TestShelf : public shop::ShelfBase {
 public:
  Result<stationery::Article> find(const stationery::Paper& request, rpc::Context&) override {
    stationery::Article article;
    *article.mutable_paper() = request;
    article.mutable_price()->set_cents(request.sheets() * 2);
    return article;
  }

  Result<stationery::Article::Price> price(const stationery::Article& request,
                                           rpc::Context&) override {
    return request.price();
  }
};

class TestCounter : public shop::CounterBase {
 public:
  Result<shop::Article> find(const shop::Article& request, rpc::Context&) override {
    return request;
  }

  Result<shop::price> price(const Note::Place& request, rpc::Context&) override {
    shop::price price;
    price.set_cents(request.line());
    return price;
  }

  Result<shop::reply> reply(const shop::request& request, rpc::Context&) override {
    shop::reply reply;
    reply.set_number(request.number() + 1);
    return reply;
  }

  Result<void> tell(const shop::request& request, rpc::Context&) override {
    told += request.number();
    return {};
  }

  Result<void> watch(const shop::request& request, rpc::Writer<shop::reply>& out,
                     rpc::Context&) override {
    for (std::uint32_t i = 0; i < request.number(); ++i) {
      shop::reply reply;
      reply.set_number(i);
      if (auto written = out.write(reply); !written) return written;
    }
    return {};
  }

  std::uint32_t told = 0;
};

class TestBell : public ::UnscopedBellBase {
 public:
  Result<::UnscopedRing> ring(const ::UnscopedRing& request, rpc::Context&) override {
    return request;
  }
};

// Serves all services together.
class ShopTest : public testing::Test {
 protected:
  ShopTest() {
    EXPECT_TRUE(server_.add(shelf_));
    EXPECT_TRUE(server_.add(counter_));
    EXPECT_TRUE(server_.add(bell_));
    EXPECT_TRUE(server_.listen({"10.0.0.1", 8460}, {.door = rpc::Door::nodes}));
    auto client = rpc::Client::connect(network_, {"10.0.0.1", 8460}, Deadline::after(1s));
    EXPECT_TRUE(client) << client;
    client_ = std::move(*client);
  }

  sim::SimulatedNetwork network_;
  TestShelf shelf_;
  TestCounter counter_;
  TestBell bell_;
  rpc::Server server_{network_};
  std::unique_ptr<rpc::Client> client_;
};

TEST_F(ShopTest, MessagesMayBeOfAnotherPackageThroughAPublicImport) {
  stationery::Paper paper;
  paper.set_sheets(21);

  const auto article = shop::ShelfClient(*client_).find(paper);

  ASSERT_TRUE(article) << article;
  EXPECT_EQ(article->paper().sheets(), 21);
  EXPECT_EQ(article->price().cents(), 42);
}

TEST_F(ShopTest, MessagesMayBeNested) {
  stationery::Article article;
  article.mutable_price()->set_cents(99);

  const auto price = shop::ShelfClient(*client_).price(article);

  ASSERT_TRUE(price) << price;
  EXPECT_EQ(price->cents(), 99);
}

TEST_F(ShopTest, ServicesMayHaveMethodsOfTheSameNames) {
  shop::Article article;
  article.mutable_new_()->set_int_(7);
  Note::Place place;
  place.set_line(5);
  shop::CounterClient counter(*client_);

  const auto found = counter.find(article);
  const auto price = counter.price(place);

  ASSERT_TRUE(found) << found;
  EXPECT_EQ(found->new_().int_(), 7);
  ASSERT_TRUE(price) << price;
  EXPECT_EQ(price->cents(), 5);
}

TEST_F(ShopTest, MessagesMayBeNamedLikeMethodsAndVariables) {
  shop::request request;
  request.set_number(16);

  const auto reply = shop::CounterClient(*client_).reply(request);

  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->number(), 17);
}

TEST_F(ShopTest, MessagesOfStreamsAndOneWayMethodsMayBeNamedLikeThemToo) {
  shop::request request;
  request.set_number(3);
  shop::CounterClient counter(*client_);

  EXPECT_TRUE(counter.tell(request));
  auto replies = counter.watch(request);
  std::uint32_t sum = 0;
  for (shop::reply reply; replies.read(reply);) sum += reply.number();

  EXPECT_TRUE(replies.finish());
  EXPECT_EQ(sum, 0 + 1 + 2);
  EXPECT_EQ(counter_.told, 3) << "it was sent before";
}

TEST_F(ShopTest, AServiceMayHaveNoPackage) {
  ::UnscopedRing ring;
  ring.set_times(3);

  const auto rung = ::UnscopedBellClient(*client_).ring(ring);

  ASSERT_TRUE(rung) << rung;
  EXPECT_EQ(rung->times(), 3);
}

}  // namespace
}  // namespace corolane::codegen_test
