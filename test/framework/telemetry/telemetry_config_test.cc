// SPDX-License-Identifier: MIT
#include "framework/telemetry/telemetry_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace corolane::framework {
namespace {

using testing::HasSubstr;

std::string read_otlp_endpoint(std::string_view text) {
  const auto endpoint = parse_otlp_endpoint(text);
  if (!endpoint) return endpoint.error().message();
  return std::string(endpoint->is_tls ? "tls " : "plain ") +
         net::to_string(net::Endpoint{endpoint->host.host, endpoint->host.port}) + endpoint->path;
}

TEST(TelemetryConfigTest, AnEndpointIsAUrlOrAnAddress) {
  EXPECT_EQ(read_otlp_endpoint("collector:4318"), "plain collector:4318");
  EXPECT_EQ(read_otlp_endpoint("127.0.0.1"), "plain 127.0.0.1:4318");
  EXPECT_EQ(read_otlp_endpoint("http://[::1]/"), "plain [::1]:4318");
  EXPECT_EQ(read_otlp_endpoint("https://otel.example"), "tls otel.example:4318");
  EXPECT_EQ(read_otlp_endpoint("https://otel.example:443/otlp/"), "tls otel.example:443/otlp");
  EXPECT_EQ(read_otlp_endpoint("unix:/run/otel.sock"), "plain unix:/run/otel.sock");
}

TEST(TelemetryConfigTest, AnythingElseIsRefusedWithTheRightForm) {
  for (const char* text : {"ftp://collector", "https://", "http://a:b", "http://c/v1/traces",
                           "http://c/?a", "https://a b"}) {
    EXPECT_FALSE(parse_otlp_endpoint(text)) << text;
    EXPECT_THAT(read_otlp_endpoint(text), HasSubstr("write https://collector.example:4318"))
        << text;
  }
}

std::string checked_otlp(const OtlpConfig& config) {
  const auto result = check_otlp(config);
  return result ? "ok" : result.error().message();
}

TEST(TelemetryConfigTest, SecretsGoOverTlsOrStayOnTheMachine) {
  EXPECT_THAT(checked_otlp({.endpoint = "http://collector", .headers_file = "h"}),
              HasSubstr("others can read the headers"));
  EXPECT_EQ(checked_otlp({.endpoint = "https://collector", .headers_file = "h"}), "ok");
  EXPECT_EQ(checked_otlp({.endpoint = "127.0.0.1:4318", .headers_file = "h"}), "ok");
}

TEST(TelemetryConfigTest, KeysThatWouldDoNothingAreRefused) {
  EXPECT_EQ(checked_otlp({}), "ok");
  EXPECT_THAT(checked_otlp({.metrics = true}), HasSubstr("node.otlp.endpoint"));
  EXPECT_THAT(checked_otlp({.endpoint = "collector:4318", .tls = {.ca_file = "ca"}}),
              HasSubstr("https://"));
  EXPECT_THAT(checked_otlp({.endpoint = "https://c", .tls = {.certificate_file = "c"}}),
              HasSubstr("set together"));
}

}  // namespace
}  // namespace corolane::framework
