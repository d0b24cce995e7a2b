// SPDX-License-Identifier: MIT
// One request of an HttpServer and its answer, for services that decide on the loop's stack whether
// a request is worth a task.
//
//   class Gate final : public net::HttpService {
//     void begin(net::HttpExchange& exchange) override {
//       if (!is_open_) {
//         exchange.response().status = 503;
//         return exchange.answer_at_once();
//       }
//       auto task = tasks_.spawn("page", [&exchange] {
//         exchange.response().body = make_page(exchange.request());
//         exchange.answer();
//       });
//       if (task) return exchange.bind(*task);
//       exchange.response().status = 503;
//       exchange.answer_at_once();
//     }
//   };
#pragma once

#include <string_view>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/task.h"
#include "net/endpoint.h"
#include "net/http/http.h"

namespace corolane::net {

class HttpExchange {
 public:
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  // Both are valid until the answer.
  virtual const HttpRequest& request() const = 0;
  // Arrives reset, with the memory of an earlier one.
  virtual HttpResponse& response() = 0;
  virtual const Endpoint& peer_endpoint() const = 0;

  // Learns, on the loop's stack, that the client has left or has finished sending. The exchange
  // awaits its answer all the same: the client may still read.
  class Watcher {
   public:
    virtual void client_left() = 0;

   protected:
    ~Watcher() = default;
  };
  // The task is cancelled, or the watcher is called, when the client leaves; at once when it has
  // left already.
  virtual void bind(coroutine::TaskRef task) = 0;
  virtual void watch(Watcher& watcher) = 0;

  // Sends a piece of the body, behind the head of the response with the first one, so that a client
  // reads it before the rest is made. In a task: suspends while the client takes nothing. Fails
  // with unavailable when the client is gone, with deadline_exceeded or cancelled. The answer
  // follows even then. Not for HEAD.
  virtual Result<void> write(std::string_view piece, Deadline deadline) = 0;
  // The same without suspending, also on the loop's stack: sends the whole piece, or nothing and
  // fails with resource_exhausted while the client has earlier output to take, with unavailable
  // when it is gone.
  virtual Result<void> try_write(std::string_view piece) = 0;
  // Sends the response, or the rest of it: the body of the response is the last piece. This ends
  // the exchange: it may be destroyed in the next turn. In a task: suspends while the client takes
  // nothing.
  virtual void answer() = 0;
  // The same on the loop's stack: never suspends, and closes a client that reads no answers.
  virtual void answer_at_once() = 0;

 protected:
  HttpExchange() = default;
  ~HttpExchange() = default;
};

class HttpService {
 public:
  // A whole request has been read. Runs on the loop's stack and must not suspend. The exchange
  // lasts until it is answered, which may happen here.
  virtual void begin(HttpExchange& exchange) = 0;
  // Whether the running task answers an exchange.
  virtual bool serves_here() const { return false; }

 protected:
  ~HttpService() = default;
};

}  // namespace corolane::net
