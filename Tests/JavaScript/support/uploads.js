// Uploads by tus 1.0.0 as a relay takes them, and fails as the test says.

export class Uploads {
  /** By id: what has come, and how much is to come. */
  files = new Map();
  /** All requests, as `PATCH 4`: of a part, where it begins. */
  requests = [];
  /** Fails a request if it returns something: a status, or `cut` with the number of bytes to take before. */
  fails = () => undefined;

  /** For `Scripted.serve`. */
  serve = async (request, response) => {
    const { method, headers } = request;
    const url = new URL(request.url, "http://relay");
    const id = url.pathname.split("/")[3];
    const offset = headers["upload-offset"];
    this.requests.push([method, offset].filter(Boolean).join(" "));
    const failure = this.fails(method, this.requests.length);
    const parts = [];
    let count = 0;
    for await (const part of request) {
      parts.push(part);
      count += part.length;
      if (failure?.cut <= count) {
        // A browser repeats a request by itself on some broken connections.
        if (Number(offset) === this.files.get(id)?.bytes.length)
          this.#take(id, Buffer.concat(parts).subarray(0, failure.cut));
        return request.socket.destroy();
      }
    }
    if (failure?.status) {
      const type = { "Content-Type": "application/problem+json" };
      return response.writeHead(failure.status, type).end(JSON.stringify(failure.problem ?? {}));
    }
    if (url.pathname.endsWith("/link")) return response.end(JSON.stringify(this.link(id)));
    if (method === "POST") return this.#create(headers, response);
    if (method === "GET" && this.picture)
      return response.writeHead(200, { "Content-Type": "image/png" }).end(this.picture);
    const file = this.files.get(id);
    if (!file) return response.writeHead(404).end();
    if (method === "DELETE") this.files.delete(id);
    if (method === "PATCH") {
      if (Number(offset) !== file.bytes.length) return response.writeHead(409).end();
      this.#take(id, Buffer.concat(parts));
    }
    const size = method === "HEAD" ? { "Upload-Length": file.size } : {};
    response.writeHead(204, { "Upload-Offset": file.bytes.length, ...size }).end();
  };

  /** What is served of each file: none by default. */
  picture = undefined;

  link = (id) => ({ url: `/v1/files/${id}?sig=${this.requests.length}` });

  #create(headers, response) {
    const id = `f${this.files.size + 1}`;
    const size = Number(headers["upload-length"]);
    const metadata = headers["upload-metadata"].split(",").map((pair) => pair.split(" "));
    const said = metadata.map(([key, value]) => [key, Buffer.from(value, "base64").toString()]);
    this.files.set(id, { bytes: Buffer.alloc(0), size, ...Object.fromEntries(said) });
    response.writeHead(201, { Location: `/below/v1/files/${id}` }).end();
  }

  #take(id, bytes) {
    const file = this.files.get(id);
    if (file) file.bytes = Buffer.concat([file.bytes, bytes]);
  }
}
