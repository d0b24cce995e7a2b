// A suspended context is walked without running it: a small function in assembler pretends, by its
// call frame information, that the context called it. So the walk needs no room on that stack,
// which may be about to overflow, changes nothing there, and need not be announced to a sanitizer.
#include "coroutine/stack/detail/unwind.h"

#include <ucontext.h>
#include <unwind.h>

#include <utility>

#include "coroutine/stack/fault_guard.h"

// Calls walk(data). To an unwinder there, its caller is the context suspended at `frame`: the
// offsets are those of the registers that Boost.Context saves (jump_*_elf_gas.S).
extern "C" void corolane_call_as_if_from(const void* frame, void (*walk)(void*), void* data);

#if defined(__x86_64__)
asm(R"(
  .pushsection .text
  .p2align 4
  .hidden corolane_call_as_if_from
  .globl corolane_call_as_if_from
  .type corolane_call_as_if_from, @function
corolane_call_as_if_from:
  .cfi_startproc
  endbr64
  push %rbx
  mov %rdi, %rbx
  .cfi_def_cfa %rbx, 0x48
  .cfi_offset %rip, 0x40 - 0x48
  .cfi_offset %rbp, 0x38 - 0x48
  .cfi_offset %rbx, 0x30 - 0x48
  .cfi_offset %r15, 0x28 - 0x48
  .cfi_offset %r14, 0x20 - 0x48
  .cfi_offset %r13, 0x18 - 0x48
  .cfi_offset %r12, 0x10 - 0x48
  mov %rdx, %rdi
  call *%rsi
  pop %rbx
  ret
  .cfi_endproc
  .size corolane_call_as_if_from, . - corolane_call_as_if_from
  .popsection
)");
#elif defined(__aarch64__)
asm(R"(
  .pushsection .text
  .p2align 4
  .hidden corolane_call_as_if_from
  .globl corolane_call_as_if_from
  .type corolane_call_as_if_from, %function
corolane_call_as_if_from:
  .cfi_startproc
  stp x29, x30, [sp, #-32]!
  str x19, [sp, #16]
  mov x29, sp
  mov x19, x0
  .cfi_def_cfa x19, 0xb0
  .cfi_offset x30, 0xa0 - 0xb0
  .cfi_offset x29, 0x90 - 0xb0
  .cfi_offset x28, 0x88 - 0xb0
  .cfi_offset x27, 0x80 - 0xb0
  .cfi_offset x26, 0x78 - 0xb0
  .cfi_offset x25, 0x70 - 0xb0
  .cfi_offset x24, 0x68 - 0xb0
  .cfi_offset x23, 0x60 - 0xb0
  .cfi_offset x22, 0x58 - 0xb0
  .cfi_offset x21, 0x50 - 0xb0
  .cfi_offset x20, 0x48 - 0xb0
  .cfi_offset x19, 0x40 - 0xb0
  .cfi_offset d15, 0x38 - 0xb0
  .cfi_offset d14, 0x30 - 0xb0
  .cfi_offset d13, 0x28 - 0xb0
  .cfi_offset d12, 0x20 - 0xb0
  .cfi_offset d11, 0x18 - 0xb0
  .cfi_offset d10, 0x10 - 0xb0
  .cfi_offset d9, 0x8 - 0xb0
  .cfi_offset d8, 0x0 - 0xb0
  mov x0, x2
  blr x1
  ldr x19, [sp, #16]
  ldp x29, x30, [sp], #32
  ret
  .cfi_endproc
  .size corolane_call_as_if_from, . - corolane_call_as_if_from
  .popsection
)");
#else
#error "the layout of Boost.Context's saved registers is needed here for this processor"
#endif

namespace corolane::coroutine::detail {
namespace {

struct Walk {
  // Our function whose caller is the first frame of the trace.
  _Unwind_Ptr last_of_ours;
  bool has_left_ours = false;
  StackTrace trace = {};
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  if (!walk.has_left_ours) {
    walk.has_left_ours = _Unwind_GetRegionStart(context) == walk.last_of_ours;
    return _URC_NO_REASON;
  }
  auto& addresses = walk.trace.return_addresses;
  const _Unwind_Ptr address = _Unwind_GetIP(context);
  if (address == 0 || addresses.size() == StackTrace::depth_max) return _URC_END_OF_STACK;
  addresses.push_back(address);
  return _URC_NO_REASON;
}

void run(void* walk) { _Unwind_Backtrace(&visit, walk); }

_Unwind_Ptr instruction_of(const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<_Unwind_Ptr>(machine.gregs[REG_RIP]);
#else
  return machine.pc;
#endif
}

// Walks from a signal handler outwards; skips the frames of the handler itself.
struct InterruptedWalk {
  _Unwind_Ptr interrupted_at;
  std::span<std::uintptr_t> addresses;
  std::size_t count = 0;
};

_Unwind_Reason_Code visit_interrupted(_Unwind_Context* context, void* data) {
  InterruptedWalk& walk = *static_cast<InterruptedWalk*>(data);
  const _Unwind_Ptr address = _Unwind_GetIP(context);
  if (walk.count == 0 && address != walk.interrupted_at) return _URC_NO_REASON;
  if (address == 0 || walk.count == walk.addresses.size()) return _URC_END_OF_STACK;
  // The first is the instruction itself; all others are return addresses.
  walk.addresses[walk.count] = walk.count == 0 ? address + 1 : address;
  ++walk.count;
  return _URC_NO_REASON;
}

}  // namespace

StackTrace unwind_suspended(const void* frame) {
  Walk walk{.last_of_ours = reinterpret_cast<_Unwind_Ptr>(&corolane_call_as_if_from)};
  corolane_call_as_if_from(frame, &run, &walk);
  return std::move(walk.trace);
}

std::size_t unwind_interrupted(const void* context, std::span<std::uintptr_t> addresses) {
  InterruptedWalk walk{.interrupted_at = instruction_of(context), .addresses = addresses};
  // In the middle of a switch there is no valid stack to walk: the walk may lead anywhere.
  FaultGuard::run([&] { _Unwind_Backtrace(&visit_interrupted, &walk); });
  return walk.count;
}

[[gnu::noinline]] StackTrace unwind_here() {
  Walk walk{.last_of_ours = reinterpret_cast<_Unwind_Ptr>(&unwind_here)};
  run(&walk);
  return std::move(walk.trace);
}

}  // namespace corolane::coroutine::detail
