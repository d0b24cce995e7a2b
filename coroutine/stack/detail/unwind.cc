// SPDX-License-Identifier: MIT
// A suspended context is walked without running it: a small function in assembler pretends, by its
// call frame information, that the context called it. So the walk needs no room on that stack,
// which may be about to overflow, changes nothing there, and need not be announced to a sanitizer.
#include "coroutine/stack/detail/unwind.h"

#include <dlfcn.h>
#include <ucontext.h>
#include <unwind.h>

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

// Begins at the frame that is at the instruction `at`, or else after that of the function `after`.
struct Walk {
  _Unwind_Ptr at = 0;
  _Unwind_Ptr after = 0;
  std::span<std::uintptr_t> addresses;
  bool has_begun = false;
  std::size_t depth = 0;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  const _Unwind_Ptr address = _Unwind_GetIP(context);
  if (!walk.has_begun) {
    walk.has_begun =
        walk.at != 0 ? address == walk.at : _Unwind_GetRegionStart(context) == walk.after;
    if (walk.at == 0 || !walk.has_begun) return _URC_NO_REASON;
  }
  if (address == 0 || walk.depth == walk.addresses.size()) return _URC_END_OF_STACK;
  walk.addresses[walk.depth++] = address;
  return _URC_NO_REASON;
}

void run(void* walk) { _Unwind_Backtrace(&visit, walk); }

bool is_code(std::uintptr_t address) {
  dl_find_object found = {};
  return _dl_find_object(reinterpret_cast<void*>(address), &found) == 0;
}

// Undoes a call whose first instruction faulted.
void leave_called(mcontext_t& machine) {
#if defined(__x86_64__)
  machine.gregs[REG_RIP] = *reinterpret_cast<const greg_t*>(machine.gregs[REG_RSP]);
  machine.gregs[REG_RSP] += static_cast<greg_t>(sizeof(greg_t));
#else
  machine.pc = machine.regs[30];
#endif
}

}  // namespace

std::uintptr_t instruction_of(const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#else
  return machine.pc;
#endif
}

const std::byte* stack_pointer_of(const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const std::byte*>(machine.gregs[REG_RSP]);
#else
  return reinterpret_cast<const std::byte*>(machine.sp);
#endif
}

std::size_t unwind_suspended(const void* frame, std::span<std::uintptr_t> addresses) {
  Walk walk{.after = reinterpret_cast<_Unwind_Ptr>(&corolane_call_as_if_from),
            .addresses = addresses};
  corolane_call_as_if_from(frame, &run, &walk);
  return walk.depth;
}

[[gnu::noinline]] std::size_t unwind_here(std::span<std::uintptr_t> addresses) {
  Walk walk{.after = reinterpret_cast<_Unwind_Ptr>(&unwind_here), .addresses = addresses};
  run(&walk);
  return walk.depth;
}

std::size_t unwind_interrupted(const void* context, std::span<std::uintptr_t> addresses) {
  Walk walk{.at = instruction_of(context), .addresses = addresses};
  // In the middle of a switch there is no valid stack to walk: the walk may lead anywhere.
  FaultGuard::run([&] { run(&walk); });
  // The first is that of the instruction itself; all others are return addresses.
  if (walk.depth > 0) ++addresses[0];
  return walk.depth;
}

std::size_t unwind_crashed(void* context, std::span<std::uintptr_t> addresses) {
  mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  const mcontext_t before = machine;
  if (!is_code(instruction_of(context))) leave_called(machine);
  Walk walk{.at = instruction_of(context), .addresses = addresses};
  run(&walk);
  machine = before;
  return walk.depth;
}

}  // namespace corolane::coroutine::detail
