// SPDX-License-Identifier: MIT
// The only file of the tests that includes OpenSSL.
#include "net/testing/certificates.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <fstream>

#include "coroutine/base/check.h"
#include "coroutine/testing/temporary_folder.h"

namespace corolane::test {
namespace {

struct Deleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter>;
using Certificate = std::unique_ptr<X509, Deleter>;
using File = std::unique_ptr<std::FILE, Deleter>;

Key make_key() {
  Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  check(key != nullptr, "OpenSSL makes keys");
  return key;
}

File open_to_write(const std::string& path) {
  File file(std::fopen(path.c_str(), "w"));
  check(file != nullptr, "a test may write into its own folder");
  return file;
}

void write_certificate(const std::string& path, X509* certificate) {
  check(PEM_write_X509(open_to_write(path).get(), certificate) == 1, "a certificate is written");
}

void write_key(const std::string& path, EVP_PKEY* key) {
  check(PEM_write_PrivateKey(open_to_write(path).get(), key, nullptr, nullptr, 0, nullptr,
                             nullptr) == 1,
        "a key is written");
}

void add_extension(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  check(extension != nullptr, "OpenSSL knows the extension");
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

std::string alternative_names(const CertificateRequest& request) {
  std::string all;
  const auto add = [&](const char* kind, const std::vector<std::string>& names) {
    for (const std::string& name : names) all.append(all.empty() ? "" : ",").append(kind) += name;
  };
  add("DNS:", request.dns_names);
  add("URI:", request.uris);
  add("IP:", request.addresses);
  return all;
}

Certificate make_certificate(const CertificateRequest& request, EVP_PKEY* key, long number) {
  Certificate certificate(X509_new());
  check(certificate != nullptr, "OpenSSL can allocate a certificate");
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), number);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), request.valid_from.count());
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), request.valid_until.count());
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(request.common_name.c_str()),
                             -1, -1, 0);
  if (const std::string names = alternative_names(request); !names.empty()) {
    add_extension(certificate.get(), NID_subject_alt_name, names);
  }
  return certificate;
}

}  // namespace

struct CertificateAuthority::Impl {
  TemporaryFolder folder;
  Key key = make_key();
  Certificate certificate;
  long last_number = 1;
};

CertificateAuthority::CertificateAuthority(const std::string& name)
    : impl_(std::make_unique<Impl>()) {
  impl_->certificate = make_certificate({.common_name = name}, impl_->key.get(), 1);
  X509* const certificate = impl_->certificate.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate, NID_key_usage, "critical,keyCertSign");
  check(X509_sign(certificate, impl_->key.get(), EVP_sha256()) > 0, "OpenSSL signs");
  write_certificate(file(), certificate);
}

CertificateAuthority::~CertificateAuthority() = default;

std::string CertificateAuthority::file() const { return impl_->folder.path() / "ca.pem"; }

CertificateFiles CertificateAuthority::issue(const CertificateRequest& request) {
  const std::string stem = impl_->folder.path() / std::to_string(impl_->last_number + 1);
  CertificateFiles files{.certificate_file = stem + ".pem", .key_file = stem + ".key"};
  issue_into(files, request);
  return files;
}

void CertificateAuthority::issue_into(const CertificateFiles& files,
                                      const CertificateRequest& request) {
  const Key key = make_key();
  const Certificate certificate = make_certificate(request, key.get(), ++impl_->last_number);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(impl_->certificate.get()));
  check(X509_sign(certificate.get(), impl_->key.get(), EVP_sha256()) > 0, "OpenSSL signs");
  write_certificate(files.certificate_file, certificate.get());
  write_key(files.key_file, key.get());
}

std::string CertificateAuthority::write(const std::string& name, const std::string& content) const {
  const std::string path = impl_->folder.path() / name;
  std::ofstream(path) << content;
  return path;
}

}  // namespace corolane::test
