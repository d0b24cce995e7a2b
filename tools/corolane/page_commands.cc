#include "tools/corolane/page_commands.h"

#include <array>
#include <utility>

#include "tools/corolane/page_row.h"
#include "tools/corolane/stats_text.h"

namespace corolane::tools::cli {
namespace {

// --- Options

constexpr OptionRule json{.name = "--json"};
constexpr OptionRule output{.name = "--output", .has_value = true};
constexpr OptionRule seconds{.name = "--seconds", .has_value = true};
constexpr auto only_json = std::to_array<OptionRule>({json});
constexpr auto filters = std::to_array<OptionRule>(
    {{.name = "--state", .has_value = true, .choices = "ready running suspended ended"},
     {.name = "--name", .has_value = true},
     {.name = "--waiting-for", .has_value = true},
     {.name = "--site", .has_value = true},
     {.name = "--shard", .has_value = true},
     {.name = "--age", .has_value = true},
     json});
constexpr auto connection_options =
    std::to_array<OptionRule>({{.name = "--peer", .has_value = true}, json});
constexpr auto log_options = std::to_array<OptionRule>(
    {{.name = "--for", .has_value = true}, {.name = "--module", .has_value = true}, json});
constexpr auto config_options = std::to_array<OptionRule>({{.name = "--reload"}, json});
constexpr auto profile_options = std::to_array<OptionRule>(
    {seconds, {.name = "--format", .has_value = true, .choices = "svg folded"}, output, json});
constexpr auto trace_options = std::to_array<OptionRule>({seconds, output, json});

// --- The table

constexpr auto rows = std::to_array<PageRow>({
    {.command = {.name = "stats",
                 .summary = "prints what a node has done so far",
                 .help = R"(Usage: corolane stats [HOST:PORT] [--json]

Prints what a running node has done so far: coroutines, stacks, calls, objects.

  --json               print it as the node has it, in JSON

  corolane stats 127.0.0.1:8461
)",
                 .options = only_json,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/stats"},
     .render = stats_text},
    {.command = {.name = "tasks",
                 .summary = "lists the coroutines of a node, or shows one",
                 .help = R"(Usage: corolane tasks [HOST:PORT] [ID] [--state STATE] [--name TEXT]
                      [--waiting-for TEXT] [--site TEXT] [--shard N]
                      [--age DURATION] [--json]

Lists the coroutines of a node, the oldest first: what each waits for, since
when, its CPU time, where it was spawned. With ID, of the first column, that
one with its stack.

  --state STATE        only those: ready, running, suspended or ended
  --name TEXT          only those with TEXT in their name
  --waiting-for TEXT   only those that wait for such: lock, reply
  --site TEXT          only those that were spawned there: room.cc
  --shard N            only those of that shard, from 0 on
  --age DURATION       only those that are at least so old, such as 5s
  --json               print it as the node has it, in JSON

  corolane tasks 127.0.0.1:8461 --waiting-for lock --age 5s
  corolane tasks 127.0.0.1:8461 17
)",
                 .options = filters,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/tasks"},
     .word = "ID",
     .with_word = {.beginning = "/tasks/"}},
    {.command = {.name = "stacks",
                 .summary = "shows where its coroutines wait, grouped",
                 .help = R"(Usage: corolane stacks [HOST:PORT] [--state STATE] [--name TEXT]
                       [--waiting-for TEXT] [--site TEXT] [--shard N]
                       [--age DURATION] [--json]

Shows the stacks of the coroutines of a node with functions and lines, equal
ones together, the most frequent first.

  --state STATE        only those: ready, running, suspended or ended
  --name TEXT          only those with TEXT in their name
  --waiting-for TEXT   only those that wait for such: lock, reply
  --site TEXT          only those that were spawned there: room.cc
  --shard N            only those of that shard, from 0 on
  --age DURATION       only those that are at least so old, such as 5s
  --json               print it as the node has it, in JSON

  corolane stacks 127.0.0.1:8461
  corolane stacks 127.0.0.1:8461 --name Move
)",
                 .options = filters,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/tasks?group=stack"}},
    {.command = {.name = "methods",
                 .summary = "lists what its methods do and cost",
                 .help = R"(Usage: corolane methods [HOST:PORT] [--json]

Lists the methods of a node: calls, CPU time, waiting, queues, allocations, and
the deepest stack that each has needed.

  --json               print it as the node has it, in JSON

  corolane methods 127.0.0.1:8461
)",
                 .options = only_json,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/methods"}},
    {.command = {.name = "objects",
                 .summary = "lists its types of objects, or objects of one",
                 .help = R"(Usage: corolane objects [HOST:PORT] [TYPE] [--json]

Lists the types of objects that a node hosts, and the cluster that it is in.
With TYPE the objects of that one that are active here.

  --json               print it as the node has it, in JSON

  corolane objects 127.0.0.1:8461
  corolane objects 127.0.0.1:8461 chess.Game
)",
                 .options = only_json,
                 .run = nullptr,
                 .asks_pages = true,
                 .word = WordKind::object},
     .plain = {.beginning = "/objects"},
     .word = "TYPE",
     .with_word = {.beginning = "/objects?type="}},
    {.command = {.name = "explain",
                 .summary = "says why an object does not get on",
                 .help = R"(Usage: corolane explain [HOST:PORT] TYPE/ID [--json]

Says why an object, such as a player, is stuck: who owns it, what waits in its
mailbox, which call runs in it and what that waits for, its last calls and
errors.

  --json               print it as the node has it, in JSON

  corolane explain 127.0.0.1:8461 chess.Game/one
)",
                 .options = only_json,
                 .run = nullptr,
                 .asks_pages = true,
                 .word = WordKind::object},
     .plain = {},
     .word = "TYPE/ID",
     .needs_word = true,
     .with_word = {.beginning = "/objects/"}},
    {.command = {.name = "waits",
                 .summary = "shows who waits for whom, over nodes",
                 .help = R"(Usage: corolane waits [HOST:PORT] [--json]

Shows which tasks, calls and objects wait for which others, over nodes, and
marks cycles.

  --json               print it as the node has it, in JSON

  corolane waits 127.0.0.1:8461
)",
                 .options = only_json,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/waits"}},
    {.command = {.name = "connections",
                 .summary = "lists who is connected, and to whom",
                 .help = R"(Usage: corolane connections [HOST:PORT] [--peer TEXT] [--json]

Lists the connections of a node: to whom, since when, bytes, calls, queues. The
longest queues come first.

  --peer TEXT          only those to such an address: 10.1.0.7
  --json               print it as the node has it, in JSON

  corolane connections 127.0.0.1:8461 --peer 10.1.0.7
)",
                 .options = connection_options,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/connections"}},
    {.command = {.name = "slow",
                 .summary = "lists the slowest calls of late, and errors",
                 .help = R"(Usage: corolane slow [HOST:PORT] [--json]

Lists the slowest calls of the last minutes and the last ones that failed, with
object, caller, time in the queue and time of the handler.

  --json               print it as the node has it, in JSON

  corolane slow 127.0.0.1:8461
)",
                 .options = only_json,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/slow"}},
    {.command = {.name = "stalls",
                 .summary = "lists when a loop did not turn, and why",
                 .help = R"(Usage: corolane stalls [HOST:PORT] [--json]

Lists the last times that a loop of the node did not turn: for how long, and
which task of which object kept it, with its stack.

  --json               print it as the node has it, in JSON

  corolane stalls 127.0.0.1:8461
)",
                 .options = only_json,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/stalls"}},
    {.command = {.name = "log",
                 .summary = "prints its last lines, or changes its level",
                 .help = R"(Usage: corolane log [HOST:PORT] [LEVEL [--for DURATION] [--module NAME]]
                    [--json]

Prints the level of the log and its last lines. With LEVEL, which is debug,
info, warning or error, that level holds for a while.

  --for DURATION       how long LEVEL holds, such as 10min
  --module NAME        of that part of the program alone
  --json               print it as the node has it, in JSON

  corolane log 127.0.0.1:8461
  corolane log 127.0.0.1:8461 debug --for 10min
)",
                 .options = log_options,
                 .run = nullptr,
                 .asks_pages = true,
                 .word = WordKind::choice,
                 .word_choices = "debug info warning error"},
     .plain = {.beginning = "/log"},
     .word = "LEVEL",
     .with_word = {.method = "POST", .beginning = "/log?level="},
     .word_options = "--for --module"},
    {.command = {.name = "config",
                 .summary = "prints its configuration, or has it read again",
                 .help = R"(Usage: corolane config [HOST:PORT] [--reload] [--json]

Prints every key of the configuration with its value, where that is from, and
what waits for the next start.

  --reload             have the node read file and environment again, and print
                       what changes: all that is live, or nothing
  --json               print it as the node has it, in JSON

  corolane config 127.0.0.1:8461
  corolane config 127.0.0.1:8461 --reload
)",
                 .options = config_options,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/config"},
     .flag = "--reload",
     .with_flag = {.method = "POST", .beginning = "/config/reload"}},
    {.command = {.name = "heap",
                 .summary = "prints what the memory of a node is used for",
                 .help = R"(Usage: corolane heap [HOST:PORT] [--json]

Prints what the allocator of a node holds. Started with jemalloc and its
sampling, the node has a profile as well: see what it prints.

  --json               print it as the node has it, in JSON

  corolane heap 127.0.0.1:8461
)",
                 .options = only_json,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/heap"}},
    {.command = {.name = "profile",
                 .summary = "samples where it spends its CPU time",
                 .help = R"(Usage: corolane profile [HOST:PORT] [--seconds N] [--format svg|folded]
                        [--output FILE] [--json]

Samples where a node spends its CPU time, by coroutine: a flame graph for a
browser, or folded stacks for other tools.

  --seconds N          for how long: 5 unless told otherwise, at most 30
  --format FORMAT      svg or folded; otherwise as the node has it
  --output FILE        write it there instead of printing it
  --json               print it as the node has it, in JSON

  corolane profile 127.0.0.1:8461 --format svg --output flames.svg
)",
                 .options = profile_options,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/profile"}},
    {.command = {.name = "trace",
                 .summary = "records what its schedulers do, for Perfetto",
                 .help = R"(Usage: corolane trace [HOST:PORT] [--seconds N] [--output FILE] [--json]

Records what the schedulers of a node do, switch by switch: who ran how often
and for how long. With --json each switch, a file for https://ui.perfetto.dev.

  --seconds N          for how long: 0.2 unless told otherwise, at most 10
  --output FILE        write it there instead of printing it
  --json               print it as the node has it, in JSON

  corolane trace 127.0.0.1:8461 --json --output node.json
)",
                 .options = trace_options,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/trace"}},
});

// --- The commands

template <std::size_t index>
Outcome run(const Arguments& arguments) {
  return run_page_row(rows[index], arguments);
}

template <std::size_t... index>
constexpr auto make_commands(std::index_sequence<index...>) {
  std::array<Command, sizeof...(index)> commands = {rows[index].command...};
  ((commands[index].run = run<index>), ...);
  return commands;
}

constexpr auto commands = make_commands(std::make_index_sequence<rows.size()>());

}  // namespace

std::span<const Command> page_commands() { return commands; }

}  // namespace corolane::tools::cli
