// SPDX-License-Identifier: MIT
#include "tools/corolane/page_commands.h"

#include <array>
#include <utility>

#include "tools/corolane/page_row.h"
#include "tools/corolane/stack_sizes.h"
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
constexpr auto stack_options = std::to_array<OptionRule>(
    {{.name = "--state", .has_value = true, .choices = "ready running suspended ended"},
     {.name = "--name", .has_value = true},
     {.name = "--waiting-for", .has_value = true},
     {.name = "--site", .has_value = true},
     {.name = "--shard", .has_value = true},
     {.name = "--age", .has_value = true},
     {.name = "--apply", .has_value = true},
     json});
constexpr auto connection_options =
    std::to_array<OptionRule>({{.name = "--peer", .has_value = true}, json});
constexpr auto session_options =
    std::to_array<OptionRule>({{.name = "--user", .has_value = true}, json});
constexpr auto kick_options =
    std::to_array<OptionRule>({{.name = "--reason", .has_value = true}, json});
constexpr auto move_options =
    std::to_array<OptionRule>({{.name = "--to", .has_value = true}, json});
constexpr auto log_options =
    std::to_array<OptionRule>({{.name = "--for", .has_value = true}, json});
constexpr auto config_options = std::to_array<OptionRule>({{.name = "--reload"}, json});
constexpr auto profile_options = std::to_array<OptionRule>(
    {seconds, {.name = "--format", .has_value = true, .choices = "svg folded"}, output, json});
constexpr auto trace_options = std::to_array<OptionRule>({seconds, output, json});

// --- The table

constexpr auto rows = std::to_array<PageRow>({
    {.command = {.name = "stats",
                 .summary = "prints the statistics of a node",
                 .help = R"(Usage: corolane stats [HOST:PORT] [--json]

Prints the statistics of a running node: coroutines, stacks, calls, objects.

  --json               print the answer of the node as JSON

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

Lists the coroutines of a node, oldest first: what each waits for, since when,
its CPU time, and where it was spawned. With an ID from the first column it
shows that coroutine and its stack.

  --state STATE        only those in STATE: ready, running, suspended or ended
  --name TEXT          only coroutines with TEXT in their name
  --waiting-for TEXT   only coroutines that wait for TEXT, such as lock or reply
  --site TEXT          only coroutines spawned at TEXT, such as room.cc
  --shard N            only coroutines of shard N, counted from 0
  --age DURATION       only coroutines at least this old, such as 5s
  --json               print the answer of the node as JSON

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
                 .summary = "shows where its coroutines wait, grouped by stack",
                 .help = R"(Usage: corolane stacks [HOST:PORT] [--state STATE] [--name TEXT]
                       [--waiting-for TEXT] [--site TEXT] [--shard N]
                       [--age DURATION] [--json]
       corolane stacks [HOST:PORT] --apply FILE

Shows the stacks of the coroutines of a node with functions and lines. Equal
stacks are shown once; the most frequent come first.

  --state STATE        only those in STATE: ready, running, suspended or ended
  --name TEXT          only coroutines with TEXT in their name
  --waiting-for TEXT   only coroutines that wait for TEXT, such as lock or reply
  --site TEXT          only coroutines spawned at TEXT, such as room.cc
  --shard N            only coroutines of shard N, counted from 0
  --age DURATION       only coroutines at least this old, such as 5s
  --json               print the answer of the node as JSON
  --apply FILE         write the sizes of stacks that /methods suggests, from
                       the depth that it has measured, to node.stacks.methods
                       of this configuration, for the next start

  corolane stacks 127.0.0.1:8461
  corolane stacks 127.0.0.1:8461 --name Move
  corolane stacks 127.0.0.1:8461 --apply chess.yaml
)",
                 .options = stack_options,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/tasks?group=stack"},
     .other_option = "--apply",
     .run_other = apply_stack_sizes},
    {.command = {.name = "methods",
                 .summary = "lists its methods with their calls and costs",
                 .help = R"(Usage: corolane methods [HOST:PORT] [--json]

Lists the methods of a node: calls, CPU time, waiting, queues, allocations, and
the deepest stack that each has used.

  --json               print the answer of the node as JSON

  corolane methods 127.0.0.1:8461
)",
                 .options = only_json,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/methods"}},
    {.command = {.name = "objects",
                 .summary = "lists its object types, or the objects of a type",
                 .help = R"(Usage: corolane objects [HOST:PORT] [TYPE] [--json]

Lists the object types that a node hosts, and the members of its cluster. With
TYPE it lists the objects of that type that are active on the node.

  --json               print the answer of the node as JSON

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
    {.command = {.name = "cluster",
                 .summary = "shows all nodes of a cluster on one page",
                 .help = R"(Usage: corolane cluster [HOST:PORT] [--json]

Shows all nodes of a cluster, asked from any of them: state, version, address,
calls a second; objects by type and node; methods of all nodes together; the
slowest calls, waits and stalls; connections between nodes. A node that does not
answer within half a second is a row that says so.

  --json               print the answer of the node as JSON

  corolane cluster 127.0.0.1:8461
)",
                 .options = only_json,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/cluster"}},
    {.command = {.name = "explain",
                 .summary = "says why an object makes no progress",
                 .help = R"(Usage: corolane explain [HOST:PORT] TYPE/ID [--json]

Says why an object, such as a player, is stuck: its owner, the calls in its
mailbox, the running call, its last calls and errors; and what that call waits
for, over objects, locks, tasks and nodes, to what would end it. Any node of the
cluster can be asked.

  --json               print the answer of the node as JSON

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
    {.command = {.name = "move",
                 .summary = "moves the partition of an object to another node",
                 .help = R"(Usage: corolane move [HOST:PORT] TYPE/ID [--to NODE] [--json]

Moves the partition of an object, and so all objects in it, to another node of
the cluster, where it stays until it is moved again. Without --to it goes back
to where placement wants it. corolane objects shows the busy partitions.

  --to NODE            the name of the node
  --json               print the answer of the node as JSON

  corolane move 127.0.0.1:8461 chess.Game/one --to chess-2
)",
                 .options = move_options,
                 .run = nullptr,
                 .asks_pages = true,
                 .word = WordKind::object},
     .plain = {},
     .word = "TYPE/ID",
     .needs_word = true,
     .with_word = {.method = "POST", .beginning = "/move?object="}},
    {.command = {.name = "waits",
                 .summary = "shows what waits for what, across nodes",
                 .help = R"(Usage: corolane waits [HOST:PORT] [--json]

Shows which objects wait for which others, which tasks wait for locks and who
holds these, and what all other tasks and stackless coroutines wait for, across
nodes; marks cycles.

  --json               print the answer of the node as JSON

  corolane waits 127.0.0.1:8461
)",
                 .options = only_json,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/waits"}},
    {.command = {.name = "connections",
                 .summary = "lists its connections",
                 .help = R"(Usage: corolane connections [HOST:PORT] [--peer TEXT] [--json]

Lists the connections of a node: peer, age, bytes, calls, queues. The longest
queues come first.

  --peer TEXT          only connections to peers with TEXT, such as 10.1.0.7
  --json               print the answer of the node as JSON

  corolane connections 127.0.0.1:8461 --peer 10.1.0.7
)",
                 .options = connection_options,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/connections"}},
    {.command = {.name = "sessions",
                 .summary = "lists the sessions of its clients",
                 .help = R"(Usage: corolane sessions [HOST:PORT] [--user USER] [--json]

Lists the sessions of the clients of a node: user, peer, age, how often resumed,
pushes that are not acknowledged, pushes lost, calls. The fullest rings come
first.

  --user USER          only those of that user
  --json               print the answer of the node as JSON

  corolane sessions 127.0.0.1:8461 --user ann
)",
                 .options = session_options,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/sessions"}},
    {.command = {.name = "user",
                 .summary = "shows whether a user is connected",
                 .help = R"(Usage: corolane user [HOST:PORT] USER [--json]

Shows a user, asked from any node of the cluster: whether they are connected,
when they were last seen, what is kept for them, and their sessions.

  --json               print the answer of the node as JSON

  corolane user 127.0.0.1:8461 ann
)",
                 .options = only_json,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {},
     .word = "USER",
     .needs_word = true,
     .with_word = {.beginning = "/users/"},
     .is_one_part = true},
    {.command = {.name = "kick",
                 .summary = "ends the sessions of a user",
                 .help = R"(Usage: corolane kick [HOST:PORT] USER [--reason TEXT] [--json]

Ends the sessions of a user, on whatever nodes they are. The clients are told
the reason, and do not come back by themselves. It does not keep the user from
logging in again.

  --reason TEXT        what the clients are told
  --json               print the answer of the node as JSON

  corolane kick 127.0.0.1:8461 ann --reason "no cheating"
)",
                 .options = kick_options,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {},
     .word = "USER",
     .needs_word = true,
     .with_word = {.method = "POST", .beginning = "/kick?user="}},
    {.command = {.name = "slow",
                 .summary = "lists the slowest recent calls, and errors",
                 .help = R"(Usage: corolane slow [HOST:PORT] [--json]

Lists the slowest calls of the last minutes and the last failed calls, with
object, caller, time in the queue and time in the handler.

  --json               print the answer of the node as JSON

  corolane slow 127.0.0.1:8461
)",
                 .options = only_json,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/slow"}},
    {.command = {.name = "stalls",
                 .summary = "lists when an event loop was blocked, and why",
                 .help = R"(Usage: corolane stalls [HOST:PORT] [--json]

Lists the last times that an event loop of the node was blocked: for how long,
and which task of which object blocked it, with its stack.

  --json               print the answer of the node as JSON

  corolane stalls 127.0.0.1:8461
)",
                 .options = only_json,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/stalls"}},
    {.command = {.name = "log",
                 .summary = "prints its last log lines, or changes its log level",
                 .help = R"(Usage: corolane log [HOST:PORT] [LEVEL [--for DURATION]] [--json]

Prints the log level and the last lines of the log. With LEVEL, which is debug,
info, warning or error, it changes the log level for a while.

  --for DURATION       how long LEVEL lasts, such as 10min
  --json               print the answer of the node as JSON

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
     .word_options = "--for"},
    {.command = {.name = "config",
                 .summary = "prints its configuration, or reloads it",
                 .help = R"(Usage: corolane config [HOST:PORT] [--reload] [--json]

Prints every configuration key with its value and its source, and the changes
that take effect at the next start.

  --reload             make the node reload its file and environment, and print
                       the changes; one mistake, and nothing is changed
  --json               print the answer of the node as JSON

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
                 .summary = "prints what a node uses its memory for",
                 .help = R"(Usage: corolane heap [HOST:PORT] [--json]

Prints the memory that the allocator of a node holds. A node that was started
with jemalloc and its sampling also has a profile: the output says how.

  --json               print the answer of the node as JSON

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

Samples where a node spends its CPU time, by coroutine, and prints a flame graph
for a browser, or folded stacks for other tools.

  --seconds N          how long to sample, at most 30; by default 5
  --format FORMAT      svg or folded; by default folded
  --output FILE        write the output to FILE instead of printing it
  --json               print the answer of the node as JSON

  corolane profile 127.0.0.1:8461 --format svg --output flames.svg
)",
                 .options = profile_options,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/profile"},
     .seconds_max = 30},
    {.command = {.name = "trace",
                 .summary = "records what its schedulers do, for Perfetto",
                 .help = R"(Usage: corolane trace [HOST:PORT] [--seconds N] [--output FILE] [--json]

Records each switch of the schedulers of a node, and prints how often and how
long each task ran. With --json it prints each switch, in the format of
https://ui.perfetto.dev.

  --seconds N          how long to record, at most 10; by default 0.2
  --output FILE        write the output to FILE instead of printing it
  --json               print the answer of the node as JSON

  corolane trace 127.0.0.1:8461 --json --output node.json
)",
                 .options = trace_options,
                 .run = nullptr,
                 .asks_pages = true},
     .plain = {.beginning = "/trace"},
     .seconds_max = 10},
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
