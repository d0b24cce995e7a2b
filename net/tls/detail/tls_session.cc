// SPDX-License-Identifier: MIT
#include "net/tls/detail/tls_session.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "net/tls/detail/openssl.h"
#include "net/tls/detail/tls_settings.h"
#include "net/tls/detail/tls_shared.h"

namespace corolane::net::detail {
namespace {

TlsSession& session_of(BIO* bio) { return *static_cast<TlsSession*>(BIO_get_data(bio)); }

int read_from_session(BIO* bio, char* data, int size) {
  const auto room = std::span(reinterpret_cast<std::byte*>(data), static_cast<std::size_t>(size));
  const std::size_t count = session_of(bio).take_input(room);
  BIO_clear_retry_flags(bio);
  if (count > 0) return static_cast<int>(count);
  BIO_set_retry_read(bio);
  return -1;
}

int write_to_session(BIO* bio, const char* data, int size) {
  session_of(bio).put_sealed(
      {reinterpret_cast<const std::byte*>(data), static_cast<std::size_t>(size)});
  BIO_clear_retry_flags(bio);
  return size;
}

long control_session(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

// One for the whole process, for ever: OpenSSL numbers kinds of BIO.
const BIO_METHOD* session_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "session");
    check(made != nullptr, "OpenSSL has room for a kind of BIO");
    BIO_meth_set_read(made, &read_from_session);
    BIO_meth_set_write(made, &write_to_session);
    BIO_meth_set_ctrl(made, &control_session);
    return made;
  }();
  return method;
}

BIO* make_bio(TlsSession& session) {
  BIO* const bio = BIO_new(session_method());
  check(bio != nullptr, "OpenSSL has room for a BIO");
  BIO_set_data(bio, &session);
  BIO_set_init(bio, 1);
  return bio;
}

bool is_address(const std::string& name) {
  ASN1_OCTET_STRING* const address = a2i_IPADDRESS(name.c_str());
  ERR_clear_error();
  ASN1_OCTET_STRING_free(address);
  return address != nullptr;
}

// OpenSSL's macro for it uses a C-style cast.
long set_server_name(SSL* ssl, const std::string& name) {
  return SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                  const_cast<char*>(name.c_str()));
}

std::string_view asn1_text(const ASN1_STRING* string) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
          static_cast<std::size_t>(ASN1_STRING_length(string))};
}

// The DNS names and URIs in a certificate.
std::vector<std::string> names_of(const X509* certificate) {
  std::vector<std::string> names;
  auto* const all = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int index = 0; index < sk_GENERAL_NAME_num(all); ++index) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(all, index);
    if (name->type == GEN_DNS || name->type == GEN_URI) {
      names.emplace_back(asn1_text(name->d.ia5));
    }
  }
  GENERAL_NAMES_free(all);
  return names;
}

std::string common_name_of(const X509* certificate) {
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  const int index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (index < 0) return {};
  return std::string(asn1_text(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index))));
}

std::string identity_of(const X509* certificate) {
  std::vector<std::string> names = names_of(certificate);
  return names.empty() ? common_name_of(certificate) : std::move(names.front());
}

// Does not change the verdict: it notes the identity before the certificate is freed.
int note_verdict(int is_good, X509_STORE_CTX* verification) {
  const X509* const certificate = X509_STORE_CTX_get0_cert(verification);
  if (is_good == 0 && certificate != nullptr) {
    auto* const ssl = static_cast<SSL*>(
        X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx()));
    session_of(SSL_get_rbio(ssl)).note_refused(identity_of(certificate));
  }
  return is_good;
}

// RFC 8446, section 6.2: the alerts by which a peer rejects our certificate, or its absence.
bool is_about_certificate(int alert) {
  return (alert >= SSL_AD_BAD_CERTIFICATE && alert <= SSL_AD_CERTIFICATE_UNKNOWN) ||
         alert == SSL_AD_UNKNOWN_CA || alert == SSL_AD_ACCESS_DENIED ||
         alert == SSL_AD_CERTIFICATE_REQUIRED;
}

}  // namespace

TlsSession::TlsSession(std::shared_ptr<const TlsSettings> settings, Role role, TlsShared& shared)
    : settings_(std::move(settings)), shared_(shared), ssl_(SSL_new(settings_->context.get())) {
  check(ssl_ != nullptr, "OpenSSL has room for a connection");
  BIO* const bio = make_bio(*this);
  SSL_set_bio(ssl_, bio, bio);
  if (role == Role::client) {
    SSL_set_verify(ssl_, SSL_VERIFY_PEER, &note_verdict);
    SSL_set_connect_state(ssl_);
  } else {
    int mode = SSL_VERIFY_NONE;
    if (settings_->asks_for_certificate) mode = SSL_VERIFY_PEER;
    if (settings_->needs_peer_certificate) mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    SSL_set_verify(ssl_, mode, &note_verdict);
    SSL_set_accept_state(ssl_);
  }
}

TlsSession::~TlsSession() {
  SSL_free(ssl_);
  release_sealed();
}

Result<void> TlsSession::expect(const std::string& name) {
  expected_name_ = name;
  X509_VERIFY_PARAM* const rules = SSL_get0_param(ssl_);
  if (is_address(name)) {
    check(X509_VERIFY_PARAM_set1_ip_asc(rules, name.c_str()) == 1, "an address is one");
    return {};
  }
  X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  // The second call puts the name into the first message (SNI), for servers of many names.
  if (name.empty() || X509_VERIFY_PARAM_set1_host(rules, name.data(), name.size()) != 1 ||
      set_server_name(ssl_, name) != 1) {
    ERR_clear_error();
    return Error(Code::invalid_argument,
                 "TLS: no certificate can match the name \"" + name +
                     "\"; set server_name to the name in the peer's certificate");
  }
  return {};
}

TlsSession::Step TlsSession::shake_hands() {
  ERR_clear_error();
  return step_after(SSL_do_handshake(ssl_));
}

TlsSession::Step TlsSession::read(std::span<std::byte> room, std::size_t& count) {
  ERR_clear_error();
  count = 0;
  return step_after(SSL_read_ex(ssl_, room.data(), room.size(), &count));
}

void TlsSession::write(std::span<const std::byte> bytes) {
  if (bytes.empty() || failure_) return;
  ERR_clear_error();
  std::size_t written = 0;
  // The BIO takes everything, so this can fail only after a reading step has failed.
  step_after(SSL_write_ex(ssl_, bytes.data(), bytes.size(), &written));
}

void TlsSession::finish() {
  if (failure_) return;
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
}

void TlsSession::release_sealed() { shared_.buffers.give_back(std::move(sealed_)); }

std::size_t TlsSession::take_input(std::span<std::byte> room) {
  const std::size_t count = std::min(room.size(), input_.size());
  if (count > 0) std::memcpy(room.data(), input_.data(), count);
  input_ = input_.subspan(count);
  return count;
}

void TlsSession::put_sealed(std::span<const std::byte> bytes) {
  if (sealed_.capacity() == 0) sealed_ = shared_.buffers.lend();
  sealed_.append(bytes);
}

TlsSession::Step TlsSession::step_after(int result) {
  if (result > 0) return Step::done;
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
      return Step::needs_input;
    case SSL_ERROR_ZERO_RETURN:
      return Step::ended;
    default:
      if (!failure_) failure_ = read_failure();
      ERR_clear_error();
      return Step::failed;
  }
}

Error TlsSession::read_failure() const {
  const unsigned long reason = ERR_peek_error();
  const long verdict = SSL_get_verify_result(ssl_);
  if (verdict != X509_V_OK) return certificate_failure(verdict);
  if (ERR_GET_LIB(reason) == ERR_LIB_SSL &&
      ERR_GET_REASON(reason) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
    return Error(Code::unauthenticated,
                 "TLS: the peer shows no certificate, but this server requires one");
  }
  const int alert = ERR_GET_REASON(reason) - SSL_AD_REASON_OFFSET;
  if (ERR_GET_LIB(reason) == ERR_LIB_SSL && alert >= 0 &&
      alert <= std::numeric_limits<std::uint8_t>::max()) {
    const std::string text = SSL_alert_desc_string_long(alert);
    if (alert == SSL_AD_CERTIFICATE_REQUIRED) {
      return Error(Code::unauthenticated, "TLS: the peer demands a certificate of ours");
    }
    if (is_about_certificate(alert)) {
      return Error(Code::unauthenticated, "TLS: the peer refuses our certificate: " + text);
    }
    return Error(Code::unavailable, "TLS: the peer ends the connection: " + text);
  }
  return Error(Code::unavailable, "TLS: " + take_openssl_error("the connection broke"));
}

Error TlsSession::certificate_failure(long verdict) const {
  std::string message = "TLS: the peer's certificate is refused: ";
  message += X509_verify_cert_error_string(verdict);
  message += "; it is for \"" + refused_identity_ + "\"";
  if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH) {
    message += ", not for \"" + expected_name_ + "\"";
  }
  return Error(Code::unauthenticated, std::move(message));
}

std::string TlsSession::peer_identity() const {
  const X509* const certificate = SSL_get0_peer_certificate(ssl_);
  return certificate == nullptr ? std::string() : identity_of(certificate);
}

}  // namespace corolane::net::detail
