// SPDX-License-Identifier: MIT
#include "rpc/http/detail/http_listing.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <vector>

#include "rpc/http/detail/http_question.h"
#include "rpc/http/detail/json_text.h"
#include "rpc/server/detail/object_options.h"
#include "rpc/service.h"

namespace corolane::rpc::detail {
namespace {

namespace pb = google::protobuf;

struct MethodLine {
  const Method* method;
  std::string_view comment;
  std::string request_type = {};  // Empty when the proto is not linked in.
  std::string reply_type = {};
};

struct ServiceLines {
  std::string_view name;
  std::string_view comment;
  std::string object_state;  // Empty for a service without objects.
  std::vector<MethodLine> methods = {};
};

std::string_view comment_of(const Service& service, std::string_view symbol) {
  for (const SymbolComment& comment : service.comments()) {
    if (comment.symbol == symbol) return comment.text;
  }
  return {};
}

ServiceLines lines_of(const Server& server, const Service& service, Door door) {
  const std::string name = service.service_name();
  const auto* const descriptor = pb::DescriptorPool::generated_pool()->FindServiceByName(name);
  ServiceLines lines{.name = service.service_name(),
                     .comment = comment_of(service, name),
                     .object_state = object_state_of(descriptor)};
  for (const Method* const served : server.methods(service, door)) {
    const Method& method = *served;
    const std::string short_name = std::string(method.full_name).substr(name.size() + 1);
    std::string symbol = name;
    symbol.append(".").append(short_name);
    MethodLine line{.method = &method, .comment = comment_of(service, symbol)};
    const auto* const found =
        descriptor == nullptr ? nullptr : descriptor->FindMethodByName(short_name);
    if (found != nullptr) {
      line.request_type = found->input_type()->full_name();
      line.reply_type = found->output_type()->full_name();
    }
    lines.methods.push_back(std::move(line));
  }
  return lines;
}

std::vector<ServiceLines> all_lines(const Server& server, Door door) {
  std::vector<ServiceLines> all;
  for (const Service* const service : server.services()) {
    ServiceLines lines = lines_of(server, *service, door);
    if (!lines.methods.empty()) all.push_back(std::move(lines));
  }
  std::ranges::sort(all, {}, &ServiceLines::name);
  return all;
}

void append_indented(std::string& text, std::string_view indent, std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    text.append(indent).append(lines.substr(0, end)).append("\n");
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

std::string as_text(const std::vector<ServiceLines>& services) {
  std::string text;
  for (const ServiceLines& service : services) {
    text.append(service.name).append("\n");
    append_indented(text, "  ", service.comment);
    if (!service.object_state.empty()) {
      text += "\n  Objects: the header Corolane-Object has the id of the object to call.\n";
    }
    for (const MethodLine& line : service.methods) {
      text.append("\n  POST /").append(line.method->full_name);
      if (!line.request_type.empty()) {
        text.append("  ").append(line.request_type).append(" -> ").append(line.reply_type);
      }
      if (line.method->is_stream()) {
        text += may_get(*line.method) ? "  (a stream, also for EventSource)" : "  (a stream)";
      }
      text += "\n";
      append_indented(text, "    ", line.comment);
    }
    text += "\n";
  }
  return text.empty() ? "no services\n" : text;
}

std::string as_html(const std::vector<ServiceLines>& services) {
  std::string html = "<!doctype html><meta charset=\"utf-8\"><title>services</title>\n<pre>";
  for (const char c : as_text(services)) {
    if (c == '&') {
      html += "&amp;";
    } else if (c == '<') {
      html += "&lt;";
    } else {
      html += c;
    }
  }
  return html + "</pre>\n";
}

void append_member(std::string& json, std::string_view name, std::string_view value) {
  json.append(",\"").append(name).append("\":");
  append_json_string(json, value);
}

void append_member(std::string& json, std::string_view name, bool value) {
  json.append(",\"").append(name).append(value ? "\":true" : "\":false");
}

std::string as_json(const std::vector<ServiceLines>& services) {
  std::string json = R"({"services":[)";
  for (const ServiceLines& service : services) {
    if (&service != services.data()) json += ',';
    json += R"({"name":)";
    append_json_string(json, service.name);
    append_member(json, "comment", service.comment);
    append_member(json, "objectState", service.object_state);
    json += R"(,"methods":[)";
    for (const MethodLine& line : service.methods) {
      if (&line != service.methods.data()) json += ',';
      const auto timeout =
          std::chrono::ceil<std::chrono::milliseconds>(line.method->timeout).count();
      json.append(R"({"timeoutMs":)").append(std::to_string(timeout));
      append_member(json, "path", "/" + std::string(line.method->full_name));
      append_member(json, "request", line.request_type);
      append_member(json, "reply", line.reply_type);
      append_member(json, "idempotent", line.method->idempotent);
      append_member(json, "oneWay", line.method->one_way);
      append_member(json, "clientStreaming", line.method->client_streaming);
      append_member(json, "serverStreaming", line.method->server_streaming);
      append_member(json, "durable", line.method->durable);
      append_member(json, "readOnly", line.method->read_only);
      append_member(json, "get", may_get(*line.method));
      append_member(json, "comment", line.comment);
      json += '}';
    }
    json += "]}";
  }
  return json + "]}\n";
}

}  // namespace

std::string list_services(const Server& server, ListingFormat format, Door door) {
  const std::vector<ServiceLines> services = all_lines(server, door);
  switch (format) {
    case ListingFormat::text:
      return as_text(services);
    case ListingFormat::html:
      return as_html(services);
    case ListingFormat::json:
      return as_json(services);
  }
  return {};
}

}  // namespace corolane::rpc::detail
