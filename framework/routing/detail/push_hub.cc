// SPDX-License-Identifier: MIT
#include "framework/routing/detail/push_hub.h"

namespace corolane::framework::detail {

void PushHub::Peer::post(std::move_only_function<void(PushHub& hub)> work) const {
  scheduler_->post([hub = hub_, work = std::move(work)]() mutable {
    if (*hub != nullptr) work(**hub);
  });
}

PushHub::PushHub(FeedSource& source, std::size_t shard)
    : shard_(shard),
      feeds_(source),
      feed_lines_(feeds_, shard),
      outlet_lines_(shard, [this](std::size_t of, const FeedAddress& address, bool wants_more) {
        answer(of, address, wants_more);
      }) {
  self_.scheduler_ = &coroutine::Scheduler::current();
  self_.hub_ = std::make_shared<PushHub*>(this);
  peers_.resize(shard + 1);
  peers_[shard] = self_;
}

void PushHub::send(const FeedAddress& to, std::optional<PublishedBatch> batch) {
  if (to.shard == shard_) return take(shard_, to, std::move(batch));
  peers_.at(to.shard).post([from = shard_, to, batch = std::move(batch)](PushHub& hub) mutable {
    hub.take(from, to, std::move(batch));
  });
}

void PushHub::take(std::size_t from, const FeedAddress& to, std::optional<PublishedBatch> batch) {
  if (to.line != LineName()) return outlet_lines_.send(from, to, std::move(batch));
  if (!batch) return feeds_.end_source(to.feed);
  answer(from, to, feeds_.receive(to.feed, *batch));
}

void PushHub::answer(std::size_t of, const FeedAddress& address, bool wants_more) {
  if (of == shard_ && wants_more) return outlets_.resume(address);
  if (of == shard_) return outlets_.remove(address);
  peers_.at(of).post([address, wants_more](PushHub& hub) {
    if (wants_more) return hub.outlets_.resume(address);
    hub.outlets_.remove(address);
  });
}

void PushHub::detach(const FeedPlace& place, std::uint64_t feed) {
  if (place.line != LineName()) return feed_lines_.detach(place.line, feed);
  answer(place.shard, {.shard = shard_, .line = {}, .feed = feed}, /*wants_more=*/false);
}

void PushHub::end_subscriptions() {
  feeds_.stop();
  feed_lines_.stop();
}

void PushHub::stop() {
  end_subscriptions();
  outlets_.stop();
  *self_.hub_ = nullptr;
}

}  // namespace corolane::framework::detail
