#include "coroutine/stack/detail/crash_unwind.h"

#include <dlfcn.h>
#include <unwind.h>

// See unwind.cc.
extern "C" void corolane_call_as_if_from(const void* frame, void (*walk)(void*), void* data);

namespace corolane::coroutine::detail {
namespace {

struct CrashWalk {
  // Whether the walk has reached the frame before the first one, or the first one itself.
  _Unwind_Ptr function_before;
  _Unwind_Ptr first;
  std::span<std::uintptr_t> addresses;
  bool has_left_ours = false;
  std::size_t count = 0;
};

_Unwind_Reason_Code visit_after_crash(_Unwind_Context* context, void* data) {
  CrashWalk& walk = *static_cast<CrashWalk*>(data);
  const _Unwind_Ptr address = _Unwind_GetIP(context);
  if (!walk.has_left_ours) {
    walk.has_left_ours = walk.first != 0 ? address == walk.first
                                         : _Unwind_GetRegionStart(context) == walk.function_before;
    if (walk.first == 0 || !walk.has_left_ours) return _URC_NO_REASON;
  }
  if (address == 0 || walk.count == walk.addresses.size()) return _URC_END_OF_STACK;
  walk.addresses[walk.count++] = address;
  return _URC_NO_REASON;
}

void run_crash_walk(void* walk) { _Unwind_Backtrace(&visit_after_crash, walk); }

bool is_code(std::uintptr_t address) {
  dl_find_object found = {};
  return _dl_find_object(reinterpret_cast<void*>(address), &found) == 0;
}

#if defined(__x86_64__)
std::uintptr_t instruction_of(const ucontext_t& context) {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}
// Undoes a call whose first instruction faulted.
void leave_called(ucontext_t& context) {
  greg_t* const registers = context.uc_mcontext.gregs;
  registers[REG_RIP] = *reinterpret_cast<const greg_t*>(registers[REG_RSP]);
  registers[REG_RSP] += static_cast<greg_t>(sizeof(greg_t));
}
#elif defined(__aarch64__)
std::uintptr_t instruction_of(const ucontext_t& context) { return context.uc_mcontext.pc; }
void leave_called(ucontext_t& context) { context.uc_mcontext.pc = context.uc_mcontext.regs[30]; }
#endif

}  // namespace

std::size_t unwind_suspended_into(const void* frame, std::span<std::uintptr_t> addresses) {
  CrashWalk walk{.function_before = reinterpret_cast<_Unwind_Ptr>(&corolane_call_as_if_from),
                 .first = 0,
                 .addresses = addresses};
  corolane_call_as_if_from(frame, &run_crash_walk, &walk);
  return walk.count;
}

std::size_t unwind_crashed(ucontext_t& interrupted, std::span<std::uintptr_t> addresses) {
  const mcontext_t before = interrupted.uc_mcontext;
  if (!is_code(instruction_of(interrupted))) leave_called(interrupted);
  CrashWalk walk{
      .function_before = 0, .first = instruction_of(interrupted), .addresses = addresses};
  run_crash_walk(&walk);
  interrupted.uc_mcontext = before;
  return walk.count;
}

}  // namespace corolane::coroutine::detail
