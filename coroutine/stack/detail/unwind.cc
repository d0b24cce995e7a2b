// SPDX-License-Identifier: MIT
// A suspended context is walked without running it: a small function in assembler pretends, by its
// call frame information, that the context called it. So the walk needs no room on that stack,
// which may be about to overflow, changes nothing there, and need not be announced to a sanitizer.
#include "coroutine/stack/detail/unwind.h"

#include <dlfcn.h>
#include <ucontext.h>
#include <unwind.h>

#include <array>

#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/stack/fault_guard.h"

// Calls walk(data). To an unwinder there, its caller is the context suspended at `frame`: the
// offsets are those of the registers that Boost.Context saves (jump_*_elf_gas.S).
extern "C" void corolane_call_as_if_from(const void* frame, void (*walk)(void*), void* data);
// Calls walk(data). To an unwinder there, its caller has these three registers.
extern "C" void corolane_call_as_if_at(std::uintptr_t instruction, std::uintptr_t stack_pointer,
                                       std::uintptr_t frame_pointer, void (*walk)(void*),
                                       void* data);

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

  .p2align 4
  .hidden corolane_call_as_if_at
  .globl corolane_call_as_if_at
  .type corolane_call_as_if_at, @function
corolane_call_as_if_at:
  .cfi_startproc
  push %rbx
  push %r12
  push %r13
  mov %rsi, %rbx
  mov %rdi, %r12
  mov %rdx, %r13
  .cfi_def_cfa %rbx, 0
  .cfi_register %rip, %r12
  .cfi_register %rbp, %r13
  mov %r8, %rdi
  call *%rcx
  pop %r13
  pop %r12
  pop %rbx
  ret
  .cfi_endproc
  .size corolane_call_as_if_at, . - corolane_call_as_if_at
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

  .p2align 4
  .hidden corolane_call_as_if_at
  .globl corolane_call_as_if_at
  .type corolane_call_as_if_at, %function
corolane_call_as_if_at:
  .cfi_startproc
  stp x29, x30, [sp, #-48]!
  stp x19, x20, [sp, #16]
  str x21, [sp, #32]
  mov x29, sp
  mov x19, x1
  mov x20, x0
  mov x21, x2
  .cfi_def_cfa x19, 0
  .cfi_register x30, x20
  .cfi_register x29, x21
  mov x0, x4
  blr x3
  ldr x21, [sp, #32]
  ldp x19, x20, [sp, #16]
  ldp x29, x30, [sp], #48
  ret
  .cfi_endproc
  .size corolane_call_as_if_at, . - corolane_call_as_if_at
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
  // Has come to the first frame of the stack, or has filled `addresses`.
  bool is_whole = false;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  const _Unwind_Ptr address = _Unwind_GetIP(context);
  if (!walk.has_begun) {
    walk.has_begun =
        walk.at != 0 ? address == walk.at : _Unwind_GetRegionStart(context) == walk.after;
    if (walk.at == 0 || !walk.has_begun) return _URC_NO_REASON;
  }
  if (address == 0 || walk.depth == walk.addresses.size()) {
    walk.is_whole = true;
    return _URC_END_OF_STACK;
  }
  walk.addresses[walk.depth++] = address;
  return _URC_NO_REASON;
}

void run(void* walk) { _Unwind_Backtrace(&visit, walk); }

bool is_code(std::uintptr_t address) {
  dl_find_object found = {};
  return _dl_find_object(reinterpret_cast<void*>(address), &found) == 0;
}

// The registers of a thread that sleeps.
struct Registers {
  std::uintptr_t instruction;
  std::uintptr_t stack_pointer;
  std::uintptr_t frame_pointer;
};

// A walk over a stack that may change, and with a frame pointer that may be wrong, leads anywhere.
Walk walk_from(const Registers& place, std::span<std::uintptr_t> addresses) {
  Walk walk{.after = reinterpret_cast<_Unwind_Ptr>(&corolane_call_as_if_at),
            .addresses = addresses};
  const bool has_no_fault = FaultGuard::run([&] {
    corolane_call_as_if_at(place.instruction, place.stack_pointer, place.frame_pointer, &run,
                           &walk);
  });
  walk.is_whole = walk.is_whole && has_no_fault;
  return walk;
}

// Whether `slot` holds the frame pointer of a caller, and above it a return address.
[[gnu::no_sanitize("address", "thread")]] bool may_be_frame(const std::uintptr_t* slot) {
  const auto at = reinterpret_cast<std::uintptr_t>(slot);
  return (slot[0] == 0 || slot[0] > at) && slot[1] != 0 && is_code(slot[1]);
}

// The frame pointer that leads from `place` to the first frame of the stack; zero: none is found.
std::uintptr_t find_frame_pointer(Registers place, std::uintptr_t stack_end,
                                  std::span<std::uintptr_t> room) {
  // The innermost frame that needs a frame pointer is seldom far away, and each attempt takes some
  // microseconds.
  constexpr std::size_t slot_count_max = 4096;
  constexpr int attempt_count_max = 128;
  int attempt_count = 0;
  const auto* slot = reinterpret_cast<const std::uintptr_t*>(place.stack_pointer);
  for (std::size_t i = 0; i < slot_count_max && attempt_count < attempt_count_max; ++i, ++slot) {
    if (reinterpret_cast<std::uintptr_t>(slot + 2) > stack_end) break;
    bool is_candidate = false;
    if (!FaultGuard::run([&] { is_candidate = may_be_frame(slot); })) break;
    if (!is_candidate) continue;
    ++attempt_count;
    place.frame_pointer = reinterpret_cast<std::uintptr_t>(slot);
    if (walk_from(place, room).is_whole) return place.frame_pointer;
  }
  return 0;
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

#if defined(__x86_64__)
namespace {

// The register that is compared with the stack pointer just before or after the instruction that
// touches a page: by `cmp %REGISTER, %rsp`, or the other way round. See the Intel manual, 2A, for
// the prefix REX and the byte ModRM. Returns the value of the register; zero: there is none.
std::uintptr_t limit_of_probing(const mcontext_t& machine) {
  constexpr std::array<int, 16> registers = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                             REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                             REG_R12, REG_R13, REG_R14, REG_R15};
  constexpr std::ptrdiff_t looked_at_max = 20;
  const auto* const here = reinterpret_cast<const unsigned char*>(machine.gregs[REG_RIP]);
  for (const auto* code = here - looked_at_max; code < here + looked_at_max; ++code) {
    if (code[1] != 0x39) continue;
    std::size_t number = 0;
    if ((code[0] & 0xfb) == 0x48 && (code[2] & 0xc7) == 0xc4) {
      number = ((code[0] & 4u) << 1) | (code[2] >> 3 & 7u);
    } else if ((code[0] & 0xfe) == 0x48 && (code[2] & 0xf8) == 0xe0) {
      number = ((code[0] & 1u) << 3) | (code[2] & 7u);
    } else {
      continue;
    }
    return static_cast<std::uintptr_t>(machine.gregs[registers[number]]);
  }
  return 0;
}

}  // namespace
#endif

const std::byte* stack_end_needed_by(const void* context) {
  const std::byte* const end = stack_pointer_of(context);
#if defined(__x86_64__)
  constexpr std::uintptr_t frame_size_max = 64 * 1024 * 1024;
  const auto at = reinterpret_cast<std::uintptr_t>(end);
  const std::uintptr_t limit =
      limit_of_probing(static_cast<const ucontext_t*>(context)->uc_mcontext);
  if (limit < at && at - limit <= frame_size_max) return end - (at - limit);
#endif
  return end;
}

std::size_t unwind_suspended(const void* frame, std::span<std::uintptr_t> addresses) {
  Walk walk{.after = reinterpret_cast<_Unwind_Ptr>(&corolane_call_as_if_from),
            .addresses = addresses};
  corolane_call_as_if_from(frame, &run, &walk);
  return walk.depth;
}

std::size_t unwind_sleeping(std::uintptr_t instruction, std::uintptr_t stack_pointer,
                            std::uintptr_t stack_end, std::span<std::uintptr_t> addresses) {
#if defined(COROLANE_ASAN)
  // A fault in a walk is left by a jump, after which the sanitizer takes frames for ended that are
  // not: the instruction has to do.
  static_cast<void>(stack_pointer);
  static_cast<void>(stack_end);
  addresses[0] = instruction;
  return 1;
#else
  Registers place{.instruction = instruction, .stack_pointer = stack_pointer, .frame_pointer = 0};
  // Optimised code seldom needs a frame pointer.
  if (const Walk walk = walk_from(place, addresses); walk.is_whole) return walk.depth;
  place.frame_pointer = find_frame_pointer(place, stack_end, addresses);
  return walk_from(place, addresses).depth;
#endif
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
