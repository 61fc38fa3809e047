"""moto's server, an implementation of S3 from PyPI, in this process. It accepts any signature; s3_server.py compares them."""
import pathlib
import re
import subprocess
import sys
import urllib.request

# The last ones that are known to work with Debian's Flask and botocore.
PACKAGES = [("moto", "5.2.5"), ("flask-cors", "6.0.5")]
BUCKET, REGION = "files-of-relays", "us-east-1"


class MotoServer:
    def __init__(self):
        tool = pathlib.Path(__file__).resolve().parents[3] / "config/tool"
        for package in PACKAGES:
            folder = pathlib.Path(subprocess.check_output([tool, *package], text=True).strip())
            sys.path += map(str, folder.glob("lib/python3*/site-packages"))
        from moto.server import ThreadedMotoServer
        self.server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        self.server.start()
        self.url = f"http://127.0.0.1:{self.server.get_host_and_port()[1]}"
        self.ask(f"/{BUCKET}", "PUT")

    def ask(self, path, method="GET"):
        # moto takes the region from here.
        signature = f"AWS4-HMAC-SHA256 Credential=x/20261128/{REGION}/s3/aws4_request, SignedHeaders=host, Signature=x"
        request = urllib.request.Request(self.url + path, method=method, headers={"Authorization": signature})
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode()

    def names(self):
        return re.findall("<Key>(.*?)</Key>", self.ask(f"/{BUCKET}?list-type=2"))

    def uploads(self):
        """The objects in parts that are not complete."""
        return re.findall("<UploadId>(.*?)</UploadId>", self.ask(f"/{BUCKET}?uploads"))
