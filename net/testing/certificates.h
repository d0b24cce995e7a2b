// SPDX-License-Identifier: MIT
// Certificates for tests, issued on demand: none can expire in the tree.
//
//   CertificateAuthority authority("cluster");
//   const auto node = authority.issue({.dns_names = {"node-1"}});
//   auto context = net::TlsContext::load({.certificate_file = node.certificate_file,
//                                         .key_file = node.key_file,
//                                         .ca_file = authority.file()});
//
// The files live in a folder that is deleted together with the authority.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace corolane::test {

struct CertificateRequest {
  std::string common_name = {};
  std::vector<std::string> dns_names = {};
  std::vector<std::string> uris = {};
  std::vector<std::string> addresses = {};
  // Relative to now.
  std::chrono::seconds valid_from = std::chrono::hours(-24);
  std::chrono::seconds valid_until = std::chrono::hours(24);
};

struct CertificateFiles {
  std::string certificate_file;
  std::string key_file;
};

class CertificateAuthority {
 public:
  explicit CertificateAuthority(const std::string& name);
  ~CertificateAuthority();
  CertificateAuthority(const CertificateAuthority&) = delete;
  CertificateAuthority& operator=(const CertificateAuthority&) = delete;

  // The authority's own certificate.
  std::string file() const;
  CertificateFiles issue(const CertificateRequest& request);
  // Issues a certificate into files that exist already.
  void issue_into(const CertificateFiles& files, const CertificateRequest& request);
  // Writes a file with that content.
  std::string write(const std::string& name, const std::string& content) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::test
