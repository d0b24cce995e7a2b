// SPDX-License-Identifier: MIT
#include "net/tls/detail/tls_settings.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "coroutine/base/check.h"

namespace corolane::net::detail {
namespace {

// RFC 9325, section 4.2: forward secrecy and authenticated encryption. All ciphers of TLS 1.3 have
// both.
constexpr const char* tls_1_2_ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

Error file_error(const char* what, const std::string& file, const std::string& reason) {
  return Error(Code::invalid_argument, std::string(what) + " " + file + ": " + reason);
}

// Checked here because OpenSSL's messages are worse.
Result<void> check_readable(const char* what, const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) {
    ::close(descriptor);
    return {};
  }
  const int reason = errno;
  Code code = Code::not_found;
  if (reason == EACCES || reason == EPERM) code = Code::permission_denied;
  return Error(code, std::string(what) + " " + file + ": " + std::strerror(reason));
}

std::string to_text(const ASN1_TIME* time) {
  std::tm parts{};
  char text[32] = "?";
  if (ASN1_TIME_to_tm(time, &parts) == 1) {
    std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &parts);
  }
  return text;
}

Result<void> check_dates(const X509* certificate, const std::string& file) {
  const ASN1_TIME* const begin = X509_get0_notBefore(certificate);
  const ASN1_TIME* const end = X509_get0_notAfter(certificate);
  if (X509_cmp_current_time(end) < 0) {
    return file_error("TLS certificate", file, "expired on " + to_text(end) + "; renew it");
  }
  if (X509_cmp_current_time(begin) > 0) {
    return file_error("TLS certificate", file, "not valid before " + to_text(begin));
  }
  return {};
}

Result<void> load_certificate(SSL_CTX* context, const TlsOptions& options) {
  const auto& [certificate_file, key_file] = std::pair(options.certificate_file, options.key_file);
  if (certificate_file.empty() && key_file.empty()) return {};
  if (certificate_file.empty() || key_file.empty()) {
    return Error(Code::invalid_argument,
                 certificate_file.empty()
                     ? "TLS key " + key_file + ": the file of its certificate is missing"
                     : "TLS certificate " + certificate_file + ": the file of its key is missing");
  }
  if (auto found = check_readable("TLS certificate", certificate_file); !found) return found;
  if (auto found = check_readable("TLS key", key_file); !found) return found;
  if (SSL_CTX_use_certificate_chain_file(context, certificate_file.c_str()) != 1) {
    return file_error("TLS certificate", certificate_file,
                      "no certificate in PEM: " + take_openssl_error("no reason known"));
  }
  // This also refuses a key that does not match the certificate.
  if (SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    const unsigned long first = ERR_peek_error();
    if (ERR_GET_LIB(first) == ERR_LIB_X509) {
      ERR_clear_error();
      return file_error("TLS key", key_file,
                        "does not belong to the certificate " + certificate_file);
    }
    return file_error(
        "TLS key", key_file,
        "no key in PEM without a pass phrase: " + take_openssl_error("no reason known"));
  }
  return check_dates(SSL_CTX_get0_certificate(context), certificate_file);
}

Result<void> load_authorities(SSL_CTX* context, const std::string& file) {
  if (file.empty()) {
    // If the system has none, no server is trusted, and connecting reports why.
    SSL_CTX_set_default_verify_paths(context);
    ERR_clear_error();
    return {};
  }
  if (auto found = check_readable("TLS CA", file); !found) return found;
  if (SSL_CTX_load_verify_file(context, file.c_str()) != 1) {
    return file_error("TLS CA", file,
                      "no certificate in PEM: " + take_openssl_error("no reason known"));
  }
  // Sent to clients, so that they can choose one of their certificates.
  SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(file.c_str()));
  ERR_clear_error();
  return {};
}

void set_rules(SSL_CTX* context) {
  check(SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
            SSL_CTX_set_cipher_list(context, tls_1_2_ciphers) == 1,
        "OpenSSL speaks TLS 1.2");
  // By renegotiating, a peer could make us compute for ever; by compressing, it could infer
  // contents from lengths. A resumed session shows no certificate again, and a full handshake costs
  // less than remembering the identity.
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // An idle connection keeps no record buffer. The certificate file alone defines the chain:
  // OpenSSL must not complete it from the CAs of our peers.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_NO_AUTO_CHAIN);
  // A server has no user to type a pass phrase.
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return 0; });
}

}  // namespace

Result<std::shared_ptr<const TlsSettings>> load_tls_settings(const TlsOptions& options) {
  auto settings = std::make_shared<TlsSettings>();
  ERR_clear_error();
  settings->context.reset(SSL_CTX_new(TLS_method()));
  SSL_CTX* const context = settings->context.get();
  check(context != nullptr, "OpenSSL has room for a context");
  set_rules(context);
  if (auto loaded = load_certificate(context, options); !loaded) return loaded.error();
  if (auto loaded = load_authorities(context, options.ca_file); !loaded) return loaded.error();
  if (options.needs_peer_certificate && options.ca_file.empty()) {
    return Error(Code::invalid_argument,
                 "TLS: requiring peer certificates needs the file of the CA that signs them");
  }
  settings->has_certificate = !options.certificate_file.empty();
  settings->asks_for_certificate = !options.ca_file.empty();
  settings->needs_peer_certificate = options.needs_peer_certificate;
  return std::shared_ptr<const TlsSettings>(std::move(settings));
}

}  // namespace corolane::net::detail
