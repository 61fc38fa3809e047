// uWebSockets as a peer of `make bench`: a member's message is published to the topic of its path, to all
// subscribers including its sender. swarm compiles this file with the uWebSockets of `--uwebsockets`.
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "App.h"

namespace {

struct Member {
  std::string topic;
};

struct Nobody {};

// A message beyond this limit is dropped, 64 KiB by default; the benchmark's load waits for every delivery.
constexpr unsigned int backpressureLimitBytes = 256 << 20;
// Disables timeouts and pings: the other servers send none during a measurement either.
constexpr unsigned short noTimeout = 0;

// `Server` is uWS::App or uWS::SSLApp.
template <typename Server>
void serve(Server app, const char *scheme) {
  app.template ws<Nobody>("/echo", {
      .compression = uWS::DISABLED,
      .maxPayloadLength = 1 << 20,
      .idleTimeout = noTimeout,
      .maxBackpressure = backpressureLimitBytes,
      .message = [](auto *socket, std::string_view text, uWS::OpCode opcode) { socket->send(text, opcode); },
  });
  app.template ws<Member>("/room/:room", {
      .compression = uWS::DISABLED,
      .maxPayloadLength = 1 << 20,
      .idleTimeout = noTimeout,
      .maxBackpressure = backpressureLimitBytes,
      .upgrade =
          [](auto *response, auto *request, auto *context) {
            response->template upgrade<Member>(
                {std::string(request->getUrl())}, request->getHeader("sec-websocket-key"),
                request->getHeader("sec-websocket-protocol"), request->getHeader("sec-websocket-extensions"),
                context);
          },
      .open = [](auto *socket) { socket->subscribe(socket->getUserData()->topic); },
      // The app's publish: that of a socket leaves out the socket itself.
      .message =
          [&app](auto *socket, std::string_view text, uWS::OpCode opcode) {
            app.publish(socket->getUserData()->topic, text, opcode);
          },
  });
  app.listen("127.0.0.1", 0, [scheme](auto *listener) {
    if (!listener) {
      std::cerr << "cannot listen on 127.0.0.1" << std::endl;
      std::exit(1);
    }
    auto *socket = reinterpret_cast<us_socket_t *>(listener);
    std::cerr << "listening on " << scheme << "://127.0.0.1:" << us_socket_local_port(0, socket) << std::endl;
  });
  app.run();
}

}  // namespace

// uwebsockets [CERTIFICATE KEY]: with TLS if they are given.
int main(int count, char **words) {
  if (count == 3) {
    serve(uWS::SSLApp({.key_file_name = words[2], .cert_file_name = words[1]}), "wss");
  } else {
    serve(uWS::App(), "ws");
  }
}
