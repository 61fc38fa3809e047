"""The OpenID provider oidc-provider-mock, from PyPI, as a process.

It accepts every client with every secret, unless the client has registered (RFC 7591), which is what `register` does:
then the secret, the way to give it and the address of the redirect have to be right. It does not decode credentials
(RFC 6749, 2.3.1), but those that it makes need no encoding. It ignores PKCE: a wrong verifier is as good as the right
one. It gives back the nonce, and here it requires one. The ID token has the claims of the person that the scope asks
for, as /userinfo has: of a person that it does not know `sub`, and `email`, which is the same text. `set_user` sets the
others, such as preferred_username. It signs with RS256; its one key has a `kid`, and neither `use` nor `alg`, and ID
tokens do not name the key. It announces neither token_endpoint_auth_methods_supported nor
code_challenge_methods_supported. The redirect of a person who refuses has no `state`.
"""
import json
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

from relay import MORTAL, PATIENCE_S, wait
from service import opener

VERSION = "0.3.4"
# What it is installed with; the last ones that it is known to work with.
PACKAGES = [f"oidc-provider-mock=={VERSION}", "Authlib==1.9.10", "Flask==3.1.3", "Werkzeug==3.1.9", "uvicorn==0.54.0"]


def install(cache):
    """Installs it in a folder of `cache`, unless it is there; returns its Python."""
    folder = pathlib.Path(cache) / f"oidc-provider-mock-{VERSION}"
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], check=True)
        (folder / "complete").touch()
    return python


class OpenIDMock:
    """The provider, on a free port of loopback; it ends with the script."""

    def __init__(self, cache, folder):
        log = pathlib.Path(folder) / "oidc-provider-mock.log"
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                [*MORTAL, install(cache), "-m", "oidc_provider_mock", "--port", "0", "--require-nonce", "true",
                 "--require-registration", "true"], stdin=subprocess.DEVNULL, stdout=output, stderr=output)

        def said():
            assert self.process.poll() is None, log.read_text()
            return re.search(r"running on (http://127.0.0.1:\d+)", log.read_text())

        self.url = wait(said, log.read_text)[1]

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)

    def call(self, method, path, content):
        request = urllib.request.Request(
            self.url + path, json.dumps(content).encode(), {"Content-Type": "application/json"}, method=method)
        with opener.open(request, timeout=PATIENCE_S) as answer:
            return answer.read()

    def register(self, callback, method="client_secret_basic"):
        """Registers a relay; returns its client id and secret."""
        made = json.loads(self.call(
            "POST", "/oauth2/clients", {"redirect_uris": [callback], "token_endpoint_auth_method": method}))
        return made["client_id"], made["client_secret"]

    def set_user(self, sub, **claims):
        self.call("PUT", f"/users/{urllib.parse.quote(sub)}", claims)

    def sign_in(self, address, sub="mona", **fields):
        """Does what a person does at `address`; returns where the browser is sent then."""
        with opener.open(address, timeout=PATIENCE_S) as page:
            assert re.search(r'<form method="post"[^>]*>\s*<div[^>]*>\s*<input[^>]*\bname="sub"', page.read().decode())
        form = urllib.parse.urlencode({"sub": sub, **fields}).encode()
        try:
            with opener.open(address, form, timeout=PATIENCE_S) as page:
                raise AssertionError(f"no redirect: {page.read().decode()}")
        except urllib.error.HTTPError as answer:
            assert answer.code == 302, f"{answer.code} {answer.read().decode()}"
            return answer.headers["Location"]

    def refuse(self, address):
        """The same of a person who refuses."""
        return self.sign_in(address, action="deny")
