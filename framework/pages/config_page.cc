#include "framework/pages/config_page.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "coroutine/base/text.h"
#include "framework/pages/detail/page.h"

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

net::HttpResponse keys_as_json(const Reload& reload, const std::vector<Key>& keys) {
  Json rows = Json::array();
  for (const Key& key : keys) {
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
  return detail::json_response({{"keys", std::move(rows)}});
}

net::HttpResponse keys_as_text(const Reload& reload, const std::vector<Key>& keys) {
  std::vector<detail::Row<5>> rows = {{"KEY", "VALUE", "LIVE", "AT NEXT START", "ORIGIN"}};
  for (const Key& key : keys) {
    const Change* const pending = pending_of(reload, key);
    rows.push_back({key.path, key.shown, key.marks.is_live ? "live" : "-",
                    pending == nullptr ? "-" : pending->after, escaped(origin_of(reload, key))});
  }
  return {.body = detail::table_text(rows)};
}

// --- /config/reload

std::string_view effect_of(const Change& change) {
  return change.is_live ? "now" : "at the next start";
}

net::HttpResponse changes_as_json(const std::vector<Change>& changes) {
  Json rows = Json::array();
  for (const Change& change : changes) {
    rows.push_back({{"key", change.path},
                    {"before", change.before},
                    {"after", change.after},
                    {"takes_effect", effect_of(change)}});
  }
  return detail::json_response({{"reloaded", true}, {"changes", std::move(rows)}});
}

net::HttpResponse changes_as_text(const std::vector<Change>& changes) {
  if (changes.empty()) return {.body = "reloaded; no value has changed\n"};
  std::vector<detail::Row<4>> rows = {{"KEY", "BEFORE", "AFTER", "TAKES EFFECT"}};
  for (const Change& change : changes) {
    rows.push_back({change.path, change.before, change.after, std::string(effect_of(change))});
  }
  return {.body = detail::table_text(rows)};
}

net::HttpResponse error_as_json(const Error& error) {
  Json lines = Json::array();
  std::istringstream text(error.message());
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return detail::json_response({{"reloaded", false}, {"errors", std::move(lines)}});
}

net::HttpResponse failed(const net::HttpRequest& request, const Error& error) {
  auto response = detail::in_format(
      request, [&] { return error_as_json(error); },
      [&] { return net::HttpResponse{.body = error.message() + "\nnothing has changed\n"}; });
  response.status = error.code() == Code::invalid_argument ? unprocessable : 503;
  return response;
}

}  // namespace

void add_config_pages(AdminServer& admin, const std::shared_ptr<Reload>& reload) {
  admin.page("/config", "every key with its value and where that comes from",
             [reload](const net::HttpRequest& request) {
               const auto keys = reload->source().keys();
               return detail::in_format(
                   request, [&] { return keys_as_json(*reload, keys); },
                   [&] { return keys_as_text(*reload, keys); });
             });
  admin.action("/config/reload", "reads the configuration again",
               [reload](const net::HttpRequest& request) {
                 const auto format = request.query("format");
                 if (!format.empty() && format != "text" && format != "json") {
                   return detail::unknown_format(request);
                 }
                 const auto changes = reload->run();
                 if (!changes) return failed(request, changes.error());
                 return detail::in_format(
                     request, [&] { return changes_as_json(*changes); },
                     [&] { return changes_as_text(*changes); });
               });
}

}  // namespace corolane::framework
