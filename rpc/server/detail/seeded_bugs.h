// SPDX-License-Identifier: MIT
// Deliberate bugs of sessions, to show that the checkers of the simulation catch them, as
// framework/cluster/detail/seeded_bugs.h has those of ownership: they exist in the simulator alone,
// which compiles the sources that have one again, with COROLANE_SEEDED_BUGS.
//
// Only .cc files ask for a bug: an inline function would differ between the two.
#pragma once

#ifdef COROLANE_SEEDED_BUGS
#define COROLANE_SESSION_BUG(name) (::corolane::rpc::detail::session_bugs.name)
#else
#define COROLANE_SESSION_BUG(name) false
#endif

namespace corolane::rpc::detail {

struct SessionBugs {
  bool ring_without_acknowledgement = false;  // A push counts as received once it is sent.
  bool resume_without_principal = false;      // Whoever shows the secret has the session.
  bool two_live_sockets = false;              // The older connection of a session goes on.
  bool gap_not_told = false;                  // A client that has lost pushes does not hear of it.
  bool push_before_login = false;             // Pushes are sent before the login is answered.
};

#ifdef COROLANE_SEEDED_BUGS
extern SessionBugs session_bugs;
#endif

}  // namespace corolane::rpc::detail
