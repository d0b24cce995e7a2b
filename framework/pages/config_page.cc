// SPDX-License-Identifier: MIT
#include "framework/pages/config_page.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"

namespace corolane::framework {
namespace {

using config::Change;
using config::Key;
using detail::Json;

constexpr unsigned unprocessable = 422;

// --- /config

std::string origin_of(const Reload& reload, const Key& key) {
  if (!reload.shows_origins()) return "recording";
  const auto& origins = reload.source().origins();
  const auto found = origins.find(key.path);
  return found == origins.end() ? "default" : found->second;
}

// The key's change at the next start; null when there is none.
const Change* pending_of(const Reload& reload, const Key& key) {
  const auto found = std::ranges::find(reload.pending(), key.path, &Change::path);
  return found == reload.pending().end() ? nullptr : &*found;
}

Json keys_json(const Reload& reload) {
  Json rows = Json::array();
  for (const Key& key : reload.source().keys()) {
    const Change* const pending = pending_of(reload, key);
    rows.push_back({{"key", key.path},
                    {"value", key.shown},
                    {"at_next_start", pending == nullptr ? Json() : Json(pending->after)},
                    {"origin", origin_of(reload, key)},
                    {"live", key.marks.is_live},
                    {"type", key.type},
                    {"allowed", key.allowed},
                    {"help", key.help}});
  }
  return {{"keys", std::move(rows)}};
}

std::string live_cell(const Json& key) { return key.at("live").is_true() ? "live" : "-"; }

std::string keys_text(const Json& page) {
  return detail::table_text(
      page.at("keys"),
      "KEY: key, VALUE: value, LIVE: live, AT NEXT START: at_next_start, ORIGIN: origin",
      {{"live", live_cell}});
}

// --- /config/reload

Json changes_json(const std::vector<Change>& changes) {
  Json rows = Json::array();
  for (const Change& change : changes) {
    rows.push_back({{"key", change.path},
                    {"before", change.before},
                    {"after", change.after},
                    {"takes_effect", change.is_live ? "now" : "at the next start"}});
  }
  return {{"reloaded", true}, {"changes", std::move(rows)}};
}

std::string changes_text(const Json& page) {
  const Json& changes = page.at("changes");
  if (changes.size() == 0) return "reloaded; no value has changed\n";
  return detail::table_text(changes,
                            "KEY: key, BEFORE: before, AFTER: after, TAKES EFFECT: takes_effect");
}

Json error_json(const Error& error) {
  Json lines = Json::array();
  std::istringstream text(error.message());
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return {{"reloaded", false}, {"errors", std::move(lines)}};
}

net::HttpResponse failed(const net::HttpRequest& request, const Error& error) {
  auto response = detail::in_format(request, error_json(error), [&](const Json&) {
    return error.message() + "\nnothing has changed\n";
  });
  response.status = error.code() == Code::invalid_argument ? unprocessable : 503;
  return response;
}

}  // namespace

void add_config_pages(AdminServer& admin, const std::shared_ptr<Reload>& reload) {
  admin.page("/config", "every key with its value and where that comes from",
             [reload](const net::HttpRequest& request) {
               return detail::in_format(request, keys_json(*reload), keys_text);
             });
  admin.action("/config/reload", "reads the configuration again",
               [reload](const net::HttpRequest& request) {
                 if (!detail::format_of(request)) return detail::unknown_format(request);
                 const auto changes = reload->run();
                 if (!changes) return failed(request, changes.error());
                 return detail::in_format(request, changes_json(*changes), changes_text);
               });
}

}  // namespace corolane::framework
