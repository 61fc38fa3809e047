"""The OpenID provider Glewlwyd, from Debian, as a process with a database of its own.

It checks PKCE, requires it here, and takes credentials as they are, without decoding them (RFC 6749, 2.3.1). Its issuer
has a path, and its discovery document is below it. The ID token has the nonce, `azp`, `sub`, which Glewlwyd makes up,
and what the scope asks for of the claims that its plugin is told to give: here preferred_username, name and email. The
redirect has `iss` (RFC 9207), which the discovery document does not announce. What is wrong, it answers with 403.
"""
import json
import pathlib
import socket
import sqlite3
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from relay import MORTAL, PATIENCE_S, wait
from service import NoRedirect

# What Debian's package fills a database with.
TABLES = pathlib.Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
MODULES = "/usr/lib/glewlwyd"
ADMINISTRATOR = ("admin", "password")


class Session:
    """A browser's session with Glewlwyd."""

    def __init__(self, base, user, password):
        self.base = base
        self.opener = urllib.request.build_opener(
            NoRedirect, urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
        self.call("POST", "/auth/", {"username": user, "password": password})

    def call(self, method, path, content):
        request = urllib.request.Request(
            self.base + path, json.dumps(content).encode(), {"Content-Type": "application/json"}, method=method)
        try:
            with self.opener.open(request, timeout=PATIENCE_S) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error

    def redirected(self, address):
        try:
            with self.opener.open(address, timeout=PATIENCE_S) as answer:
                raise AssertionError(f"no redirect: {answer.read().decode()}")
        except urllib.error.HTTPError as answer:
            assert answer.code == 302, f"{answer.code} {answer.read().decode()}"
            return answer.headers["Location"]


class Glewlwyd:
    """The provider, on a free port of loopback, with one relay and one person; it ends with the script."""

    client, secret, user, password = "relay", "relay-secret", "mona", "mona-password"

    def __init__(self, folder, callback):
        folder = pathlib.Path(folder)
        none = folder / "none"
        none.mkdir()
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}/api"
        self.url = f"{self.base}/oidc"
        with sqlite3.connect(folder / "glewlwyd.db") as database:
            database.executescript(TABLES.read_text())
        database.close()
        (folder / "glewlwyd.conf").write_text(f"""
            port = {port}
            bind_address = "127.0.0.1"
            external_url = "http://127.0.0.1:{port}"
            login_url = "login.html"
            api_prefix = "api"
            cookie_domain = "127.0.0.1"
            cookie_secure = 0
            log_mode = "console"
            log_level = "WARNING"
            hash_algorithm = "SHA512"
            admin_scope = "g_admin"
            profile_scope = "g_profile"
            user_module_path = "{MODULES}/user"
            user_middleware_module_path = "{none}"
            client_module_path = "{MODULES}/client"
            user_auth_scheme_module_path = "{MODULES}/scheme"
            plugin_module_path = "{MODULES}/plugin"
            database = {{ type = "sqlite3", path = "{folder}/glewlwyd.db" }}
            """)
        self.log = folder / "glewlwyd.log"
        with open(self.log, "wb") as output:
            self.process = subprocess.Popen(
                [*MORTAL, "glewlwyd", "--config-file", folder / "glewlwyd.conf"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        wait(self.is_listening, self.log.read_text)
        self.set_up(Session(self.base, *ADMINISTRATOR), callback)

    def is_listening(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            socket.create_connection(urllib.parse.urlsplit(self.base).netloc.split(":")).close()
            return True
        except ConnectionRefusedError:
            return False

    def set_up(self, administrator, callback):
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        administrator.call("POST", "/mod/plugin/", {
            "module": "oidc", "name": "oidc", "display_name": "OpenID", "parameters": {
                "iss": self.url, "jwt-type": "rsa", "jwt-key-size": "256", "key": private.decode(),
                "cert": public.decode(), "jwks-show": True, "allowed-scope": ["openid", "profile", "email"],
                "access-token-duration": 300, "refresh-token-duration": 300, "code-duration": 60,
                "auth-type-code-enabled": True, "auth-type-refresh-enabled": False, "pkce-allowed": True,
                "pkce-required": True, "pkce-method-plain-allowed": False, "request-parameter-allow": False,
                "oauth-as-iss-id": True, "name-claim": "no", "name-claim-scope": ["profile"], "email-claim": "no",
                "email-claim-scope": ["email"],
                "claims": [{"name": "preferred_username", "user-property": "username", "scope": ["profile"]}]}})
        for scope in ["profile", "email"]:
            administrator.call("POST", "/scope/", {"name": scope, "display_name": scope, "password_required": False})
        administrator.call("POST", "/client/", {
            "client_id": self.client, "name": "Relay", "enabled": True, "confidential": True,
            "client_secret": self.secret, "password": self.secret, "redirect_uri": [callback],
            "authorization_type": ["code"], "token_endpoint_auth_method": ["client_secret_basic"], "scope": []})
        administrator.call("POST", "/user/", {
            "username": self.user, "password": self.password, "name": "Mona L", "email": "mona@example.com",
            "enabled": True, "scope": ["g_profile", "openid", "profile", "email"]})

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)

    def sign_in(self, address):
        """Does what a person does at `address`; returns where the browser is sent then."""
        person = Session(self.base, self.user, self.password)
        # The page for signing in, which is a program in JavaScript, does these.
        assert "/login.html?" in (page := person.redirected(address)), page
        person.call("PUT", f"/auth/grant/{self.client}", {"scope": "openid profile email"})
        return person.redirected(f"{address}&g_continue")
