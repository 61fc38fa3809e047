"""A service like S3 in memory, on a free port of loopback, which it prints. It compares each signature with that of
botocore, Amazon's library, and the content with its digest.

A bucket has its behaviour by its name: `flaky` fails each request twice before it carries it out, `down` always,
`partless` makes no objects of parts, `elsewhere` is in another region; `absent` does not exist.
"""
import hashlib
import http.server
import re
import sys
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

KEY_ID, SECRET, REGION = "AKIDOFTESTS", "the/secret+of=tests", "eu-test-1"
PAGE = 3


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer is two packets, and the second one must not wait for the acknowledgement of the first.
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, code):
        self.answer(status, f"<?xml version='1.0'?><Error><Code>{code}</Code></Error>".encode())

    def is_signed(self, content):
        """Whether botocore signs the request in the same way."""
        found = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=([^/]+)/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})",
            self.headers["Authorization"] or "")
        if not found or found[1] != KEY_ID:
            return False
        names = found[3].split(";")
        assert {"host", "x-amz-content-sha256", "x-amz-date"} <= set(names), names
        assert self.headers["X-Amz-Content-Sha256"] == hashlib.sha256(content).hexdigest()
        request = AWSRequest(
            self.command, f"http://{self.headers['Host']}{self.path}",
            {name: self.headers[name] for name in names}, content)
        request.context["timestamp"] = self.headers["X-Amz-Date"]
        auth = S3SigV4Auth(
            Credentials(KEY_ID, SECRET, self.headers["X-Amz-Security-Token"]), "s3", REGION)
        text = auth.string_to_sign(request, auth.canonical_request(request))
        return found[2] == "/".join([self.headers["X-Amz-Date"][:8], REGION, "s3", "aws4_request"]) \
            and found[4] == auth.signature(text, request)

    def serve(self):
        content = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.server.answers.wait()
        url = urllib.parse.urlsplit(self.path)
        _, bucket, key = urllib.parse.unquote(url.path).split("/", 2)
        tries = self.server.tries
        tries[self.command, self.path] = tries.get((self.command, self.path), 0) + 1
        if self.server.is_down or bucket == "down" or bucket == "flaky" and tries[self.command, self.path] % 3 == 1:
            return self.refuse(503, "SlowDown")
        if bucket == "flaky" and tries[self.command, self.path] % 3 == 2:
            self.close_connection = True
            return None
        if not self.is_signed(content):
            return self.refuse(403, "SignatureDoesNotMatch")
        if bucket == "elsewhere":
            return self.refuse(301, "PermanentRedirect")
        if bucket == "absent":
            return self.refuse(404, "NoSuchBucket")
        objects = self.server.objects.setdefault(bucket, {})
        if not key:
            return self.list(bucket, objects, dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True)))
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        if {"uploads", "uploadId"} & query.keys():
            return self.serve_parts(bucket, key, query, content)
        if self.command == "PUT":
            objects[key] = content
            self.server.stored_at[bucket, key] = time.time()
            return self.answer(200)
        if self.command == "DELETE":
            objects.pop(key, None)
            return self.answer(204)
        if key not in objects:
            return self.refuse(404, "NoSuchKey")
        if not (part := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"] or "")):
            return self.answer(200, objects[key])
        if int(part[1]) >= len(objects[key]):
            return self.answer(416, **{"Content-Range": f"bytes */{len(objects[key])}"})
        piece = objects[key][int(part[1]):int(part[2]) + 1]
        last = int(part[1]) + len(piece) - 1
        return self.answer(206, piece, **{"Content-Range": f"bytes {part[1]}-{last}/{len(objects[key])}"})

    def serve_parts(self, bucket, key, query, content):
        """An object that comes in parts."""
        uploads = self.server.uploads
        if self.command == "POST" and "uploads" in query:
            name = f"upload&{len(uploads)}/+"
            uploads[name] = (bucket, key, {})
            return self.answer(200, f"<R><UploadId>{escape(name)}</UploadId></R>".encode())
        name = query["uploadId"]
        if name not in uploads or uploads[name][:2] != (bucket, key):
            return self.refuse(404, "NoSuchUpload")
        parts = uploads[name][2]
        if self.command == "PUT":
            parts[int(query["partNumber"])] = content
            return self.answer(200, ETag=self.tag(content))
        del uploads[name]
        if self.command == "DELETE":
            return self.answer(204)
        wanted = re.findall(r"<PartNumber>(\d+)</PartNumber><ETag>([^<]*)</ETag>", content.decode())
        pieces = [parts[int(number)] for number, _ in wanted]
        if [self.tag(piece) for piece in pieces] != [tag for _, tag in wanted]:
            return self.refuse(400, "InvalidPart")
        if any(len(piece) < 5 << 20 for piece in pieces[:-1]):
            return self.refuse(400, "EntityTooSmall")
        if bucket == "partless":
            # As S3 does when it fails after it has begun to answer.
            return self.answer(200, b"<Error><Code>InternalError</Code></Error>")
        self.server.objects[bucket][key] = b"".join(pieces)
        self.server.stored_at[bucket, key] = time.time()
        return self.answer(200, b"<CompleteMultipartUploadResult/>")

    @staticmethod
    def tag(content):
        return f'"{hashlib.md5(content).hexdigest()}"'

    do_GET = do_PUT = do_POST = do_DELETE = serve

    def stored_at(self, bucket, key):
        return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(self.server.stored_at[bucket, key]))

    def list(self, bucket, objects, query):
        assert query["list-type"] == "2"
        prefix = query["prefix"]
        after = query.get("continuation-token") or query.get("start-after", "")
        keys = sorted(key for key in objects if key.startswith(prefix) and key > after)
        keys = [key for key in keys if query["delimiter"] not in key[len(prefix):]]
        count = min(PAGE, int(query.get("max-keys", PAGE)))
        more = f"<NextContinuationToken>{escape(keys[count - 1])}</NextContinuationToken>" if len(keys) > count else ""
        contents = "".join(f"<Contents><Key>{escape(key)}</Key><LastModified>{self.stored_at(bucket, key)}</LastModified></Contents>" for key in keys[:count])
        self.answer(200, f"<?xml version='1.0'?><ListBucketResult>{more}{contents}</ListBucketResult>".encode())


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.objects, self.tries, self.is_down = {}, {}, False
        # Requests wait while it is cleared.
        self.answers = threading.Event()
        self.answers.set()
        # When each object was stored; a test may change it.
        self.stored_at = {}
        # Objects in parts, which are not complete.
        self.uploads = {}
        self.url = f"http://127.0.0.1:{self.server_port}"


if __name__ == "__main__":
    server = Server()
    print(server.url, flush=True)
    sys.stdout.close()
    server.serve_forever()
