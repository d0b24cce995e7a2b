// SPDX-License-Identifier: MIT
// The pages of every node. Each is a function that collects what it shows from all shards, and
// suspends meanwhile. It fails when a shard cannot be reached.
#pragma once

#include <string>
#include <string_view>

#include "coroutine/base/result.h"
#include "net/http/http.h"

namespace corolane::framework {
class Node;
}

namespace corolane::framework::detail {

using NodePage = Result<net::HttpResponse>(Node& node, const net::HttpRequest& request);

// /: the list of pages; a browser gets the dashboard instead.
NodePage root_page;

// /ready: whether clients should be sent here; 503 with the reasons when not. It asks no other
// shard: one that is stuck is a reason, and could not answer.
NodePage ready_page;

// /stats: the node's counters as JSON, summed over its shards, and a row for each shard.
NodePage stats_page;

// /history: the figures of the last ten minutes by the second, or of two days by the minute. It
// asks no shard.
NodePage history_page;

// /cluster: all nodes of the cluster, with what is slow or stuck on any of them. Each node is asked
// for half a second; one that does not answer is a row that says so.
// /cluster?of=node: what this node tells the others for that.
NodePage cluster_page;

// /objects: the object types that the node hosts, with statistics, and the members of the cluster.
// /objects?type=: the active objects of a type, those with the most waiting calls first.
NodePage objects_page;

// /objects/{type}/{id}: why is this player stuck? The node that owns the object answers, whichever
// is asked: "chain" follows what it waits for over nodes. ?here=1: what this node knows, without
// stacks;
// ?links=1: its part of such a chain. Both are for other nodes.
NodePage object_page;

// /sessions: the sessions of the clients of this node, those with the most that is not acknowledged
// first; ?user= selects.
NodePage sessions_page;
// /users/{id}: a user of the cluster, asked from any node: the sessions, when they were last seen.
NodePage user_page;
// POST /kick?user=: ends the sessions of a user, who is told the ?reason=.
NodePage kick_user;

// Finds the object type named "chess.Player", or "Player" when no other type ends like that, among
// those that this node and the other nodes host. Fails with not_found, and with invalid_argument
// when there are several.
Result<std::string> find_object_type(const Node& node, std::string_view text);

struct ObjectName {
  std::string type;  // "chess.Player".
  std::string id;
};

// The object of "Player/J%C3%BCrgen". Fails as find_object_type(), and with invalid_argument for
// what is no such name.
Result<ObjectName> find_object(const Node& node, std::string_view text);

// POST /move?object=TYPE/ID&to=NODE: the partition of that object, and so of all others in it,
// goes to that node and stays there; without to= it goes back to where placement wants it.
NodePage move_partition;

// /waits: the unfinished calls between objects on all nodes, and the cycles among them; as a
// drawing with ?format=svg. A call back into an object that waits for it is refused; this page
// finds objects that wait for one another by different calls.
NodePage waits_page;

// /tasks: every coroutine of the node.
NodePage tasks_page;

// /tasks/{id}: one coroutine, with its stack.
NodePage task_page;

// /tasks/stacks: where the coroutines wait; equal stacks are grouped.
NodePage stacks_page;

// /tasks/stackless: what the stackless coroutines wait for; equal ones are grouped.
NodePage stackless_page;

// /stalls: the last times that a loop did not turn, the newest first, with the task at fault and
// its stack.
NodePage stalls_page;

// /sites: the places that spawn coroutines, and the cost of those.
NodePage sites_page;

// /methods: the cost of each method's handlers. Services are measured by their servers, objects by
// their hosts, since objects are called by servers and by other objects.
NodePage methods_page;

// /slow: the slowest calls of the last minutes, and the last ones that failed.
NodePage slow_page;

// /connections: the node's connections, incoming and outgoing.
NodePage connections_page;

// /log: the last lines of the log, and its level.
NodePage log_page;

// POST /log?level=debug&for=10m: another level for a while.
NodePage lend_log_level;

// /profile: where CPU time is spent, by coroutine, from samples of ?seconds=5. Answers with folded
// stacks, or a flame graph with ?format=svg.
NodePage profile_page;

// /trace: which task ran when, switch by switch, for ?seconds=0.2. The text says how often and how
// long each task ran; ?format=json is a file for ui.perfetto.dev.
NodePage trace_page;

// /heap: the statistics of the process's allocator: jemalloc when it is preloaded, otherwise that
// of the C library. ?format=profile returns the samples of jemalloc, for jeprof.
NodePage heap_page;

}  // namespace corolane::framework::detail
