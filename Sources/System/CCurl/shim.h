#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* curl_easy_setopt and curl_easy_getinfo are variadic, which Swift does not import. */

typedef size_t (*ccurl_sink)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode ccurl_set_number(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

/* libcurl copies the text. */
static inline CURLcode ccurl_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

/* The list must outlive the transfer. */
static inline CURLcode ccurl_set_headers(CURL *handle, struct curl_slist *headers) {
  return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
}

/* CURL_ERROR_SIZE characters, which must outlive the transfer. */
static inline CURLcode ccurl_set_error_buffer(CURL *handle, char *buffer) {
  return curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, buffer);
}

/* POST; libcurl copies the body. */
static inline CURLcode ccurl_set_body(CURL *handle, const char *bytes, long count) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, count);
  return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes);
}

static inline CURLcode ccurl_set_sinks(CURL *handle, ccurl_sink header, ccurl_sink body, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
  return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
}

/* Called for each connection with its resolved address; without a socket the connection fails. */
static inline CURLcode ccurl_set_socket_opener(CURL *handle, curl_opensocket_callback opener, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, opener);
  return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context);
}

/* Copies the address into 16 bytes, and returns its length; 0 if it is neither IPv4 nor IPv6. */
static inline int ccurl_peer(const struct curl_sockaddr *address, unsigned char *bytes) {
  if (address->family == AF_INET) {
    memcpy(bytes, &((const struct sockaddr_in *)(const void *)&address->addr)->sin_addr, 4);
    return 4;
  }
  if (address->family == AF_INET6) {
    /* libcurl stores as many bytes there as the family has. */
    memcpy(bytes, &((const struct sockaddr_in6 *)(const void *)&address->addr)->sin6_addr, 16);
    return 16;
  }
  return 0;
}

static inline curl_socket_t ccurl_open_socket(const struct curl_sockaddr *address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static inline long ccurl_status(CURL *handle) {
  long status = 0;
  return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}

/* Returns the errno of the last failure to connect. */
static inline long ccurl_os_error(CURL *handle) {
  long error = 0;
  return curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &error) == CURLE_OK ? error : 0;
}

/* Returns the URL that is being requested, after redirects. */
static inline const char *ccurl_url(CURL *handle) {
  char *url = NULL;
  return curl_easy_getinfo(handle, CURLINFO_EFFECTIVE_URL, &url) == CURLE_OK ? url : NULL;
}

/* Returns the result of a completed transfer, and sets *handle; -1 if there is none. */
static inline int ccurl_next_ended(CURLM *multi, CURL **handle) {
  int left = 0;
  CURLMsg *message = curl_multi_info_read(multi, &left);
  while (message != NULL && message->msg != CURLMSG_DONE) message = curl_multi_info_read(multi, &left);
  if (message == NULL) return -1;
  *handle = message->easy_handle;
  return (int)message->data.result;
}

static inline CURLcode ccurl_start(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }
