// Certificates for tests, made when they are needed: none can expire in the tree.
//
//   CertificateAuthority authority("cluster");
//   const auto node = authority.issue({.dns_names = {"node-1"}});
//   TlsContext::load({.certificate_file = node.certificate_file, .key_file = node.key_file,
//                     .ca_file = authority.file()});
//
// The files lie in a folder that is gone with the authority.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace corolane::test {

struct CertificateRequest {
  std::string common_name = "";
  std::vector<std::string> dns_names = {};
  std::vector<std::string> uris = {};
  std::vector<std::string> addresses = {};
  // From now.
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

  // Its own certificate.
  std::string file() const;
  CertificateFiles issue(const CertificateRequest& request);
  // The same under the names of files that exist.
  void issue_into(const CertificateFiles& files, const CertificateRequest& request);
  // A file of that content.
  std::string write(const std::string& name, const std::string& content) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::test
