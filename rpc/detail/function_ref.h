// SPDX-License-Identifier: MIT
// A reference to a callable that outlives it: a callback without an allocation.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace corolane::rpc::detail {

template <typename Signature>
class FunctionRef;

template <typename R, typename... Arguments>
class FunctionRef<R(Arguments...)> {
 public:
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
  FunctionRef(F&& function)
      : function_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* called, Arguments... arguments) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(called))(
              std::forward<Arguments>(arguments)...);
        }) {}

  R operator()(Arguments... arguments) const {
    return call_(function_, std::forward<Arguments>(arguments)...);
  }

 private:
  void* function_;
  R (*call_)(void*, Arguments...);
};

}  // namespace corolane::rpc::detail
