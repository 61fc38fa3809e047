"""Signing in at providers of OpenID Connect: `accounts_oidc.py CASE RELAY [CACHE]` plays one case, and prints
"good"."""
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile

from accounts_support import Browser, Person, first, play, redirected
from oidc import ALLOWED, CLIENT, FORGERIES, SECRET, Provider
from relay import free_port

START = "/sign-in/oidc"


def by_oidc(issuer, client=CLIENT, secret=SECRET, **more):
    """JSON is YAML."""
    oidc = {"title": "Company", "issuer": issuer, "client_id": client, "client_secret": secret, **more}
    auth = {"mode": "accounts", "sign_in": ["invite", "oidc"], "oidc": oidc}
    return f"auth: {json.dumps(auth)}\nlimits: {{ sign_ins_per_min: 0 }}\n"


def user(relay):
    """Signs a new browser in; returns its user, or the error."""
    browser = Browser(relay)
    end = browser.get(START).headers["Location"]
    if not end.startswith("/"):
        end = browser.back(redirected(end).headers["Location"])
    if end != "/":
        assert not browser.jar, "an error, and a cookie"
        return end.removeprefix("/?sign_in_error=")
    return browser.get("/v1/me").json["user"]


async def people(start):
    """People sign in, by what the provider says of them and in the ways that it has."""
    provider = Provider("/realms/x")
    relay = start(by_oidc(provider.url))
    assert Person(relay).get("/v1/sign-in").json["methods"][1] == {"method": "oidc", "title": "Company"}
    mona = Browser(relay)
    assert mona.go(f"{START}?return=/join/x") == "/join/x"
    me = mona.get("/v1/me").json
    assert (me["user"], me["name"]) == ("mona", "Mona L"), me
    # The subject is the person; all else may change, and be given to another.
    provider.claims.update(preferred_username="lisa")
    assert user(relay) == "mona"
    provider.claims.update(preferred_username="mona", sub="2")
    assert user(relay) == "mona-2"
    provider.claims.update(preferred_username="Mona L.@example.com", sub="3")
    assert user(relay) == "mona-l."
    # Other keys, other ways to prove oneself, claims by userinfo alone.
    provider.claims["sub"] = "248289761001"
    provider.alg = "ES256"
    assert user(relay) == "mona"
    del provider.claims["preferred_username"]
    provider.userinfo = {"preferred_username": "other"}
    assert user(relay) == "mona"
    provider.userinfo = {"preferred_username": "other", "sub": "4"}
    assert user(relay) == "provider_refused", "userinfo is about another person"
    provider.userinfo = {}
    assert user(relay) == "provider_refused", "no name"
    assert 'no claim "preferred_username"' in (relay.folder / "relay.log").read_text()
    # The discovery document and the keys are kept; a token and a secret are never told.
    asked = [path for path, *_ in provider.requests]
    assert asked.count("/.well-known/openid-configuration") == 1 and asked.count("/jwks") < 3, asked
    log = (relay.folder / "relay.log").read_text()
    assert SECRET not in log and not any(token in log for token in provider.tokens), log
    # By post, where the provider has nothing else; with keys that have no name.
    provider = Provider()
    provider.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    provider.hide_kid = True
    assert user(start(by_oidc(provider.url))) == "mona"


async def forged(start):
    """A token that is not this provider's, of this sign-in, for this relay and of this moment is refused."""
    provider = Provider()
    relay = start(by_oidc(provider.url))
    for alg in ["RS256", "ES256"]:
        provider.alg = alg
        for name, forge in FORGERIES.items():
            provider.forge = forge
            assert user(relay) == "provider_refused", (alg, name)
        for name, forge in ALLOWED.items():
            provider.forge = forge
            assert user(relay) == "mona", (alg, name)


async def rotated(start):
    """A new key is fetched once; tokens that name keys that do not exist cost a request in 30 s at most."""
    provider = Provider()
    relay = start(by_oidc(provider.url))
    assert user(relay) == "mona"
    provider.rotate()
    assert user(relay) == "mona"
    provider.forge = FORGERIES["other_key_unknown_kid"]
    for _ in range(5):
        assert user(relay) == "provider_refused"
    assert [path for path, *_ in provider.requests].count("/jwks") <= 2


async def mixed_up(start):
    """Answers of other providers, other browsers and other times; a provider that is down, or lies."""
    provider = Provider()
    relay = start(by_oidc(provider.url))
    provider.callback = {"iss": "https://another.example"}
    assert user(relay) == "provider_refused"
    provider.callback = {"iss": None}
    assert user(relay) == "provider_refused", "the provider announces that it names itself"
    provider.callback = {"code": None, "error": "access_denied"}
    assert user(relay) == "access_denied"
    provider.callback = {}
    # A code of another browser's sign-in: its verifier and its nonce are others.
    victim, attacker = (redirected(Browser(relay).get(START).headers["Location"]).headers["Location"] for _ in range(2))
    code = re.search("code=([^&]+)", victim)[1]
    browser = Browser(relay)
    own = redirected(browser.get(START).headers["Location"]).headers["Location"]
    assert browser.back(re.sub("code=[^&]+", f"code={code}", own)) == "/?sign_in_error=provider_refused"
    assert browser.back(attacker) == "/?sign_in_error=state_mismatch"
    for path, status, content, expected in [
            ("/token", 503, b"", "provider_unavailable"), ("/token", 400, {"error": "invalid_grant"}, "provider_refused"),
            ("/token", 302, b"", "provider_refused"), ("/token", 200, b"x" * (2 << 20), "provider_unavailable"),
            ("/token", 200, {"access_token": "x"}, "provider_refused")]:
        provider.faults = {path: (status, content, {"Location": "http://169.254.169.254/"} if status == 302 else {})}
        assert user(relay) == expected, (path, status)
    # Endpoints of others: without TLS, or in the network of the relay, which is not for a provider to choose.
    with socket.create_server(("127.0.0.1", 0)) as trap:
        port = trap.getsockname()[1]
        for endpoint, expected in [
                (f"http://127.0.0.1:{port}/t", "provider_refused"), (f"https://127.0.0.1:{port}/t", "provider_unavailable"),
                (f"https://localhost:{port}/t", "provider_unavailable"), ("file:///etc/passwd", "provider_refused")]:
            liar = Provider()
            liar.metadata = {"token_endpoint": endpoint}
            assert user(start(by_oidc(liar.url))) == expected, endpoint
        trap.settimeout(0)
        try:
            trap.accept()
            raise AssertionError("the relay has connected to an address that a provider has chosen")
        except BlockingIOError:
            pass
    # A provider that is down at the start is asked again.
    liar = Provider()
    later = start(by_oidc(liar.url))
    discovery = "/.well-known/openid-configuration"
    liar.fail(discovery, 500)
    assert user(later) == "provider_unavailable"
    liar.fail(discovery, 200, {**liar.document(), "issuer": liar.url + "/"})
    assert user(later) == "provider_refused"
    liar.faults = {}


async def groups(start):
    """Only members of a group enter."""
    provider = Provider()
    relay = start(by_oidc(provider.url, groups=["boss", "staff"]))
    for found, expected in [
            (["staff"], "mona"), ("staff", "mona"), (["other"], "not_a_member"), ([], "not_a_member"),
            (None, "not_a_member")]:
        provider.claims["groups"] = found
        assert user(relay) == expected, found


async def mock(start, cache):
    """oidc-provider-mock, from PyPI."""
    from openid_mock import OpenIDMock, install
    try:
        install(cache)
    except subprocess.CalledProcessError as error:
        return print(f"oidc-provider-mock cannot be installed, and was not tested: {error}")
    with tempfile.TemporaryDirectory() as folder:
        provider = OpenIDMock(cache, folder)
        try:
            port = free_port()
            client, secret = provider.register(f"http://127.0.0.1:{port}/sign-in/oidc/callback")
            provider.set_user("5", preferred_username="Mona", name="Mona L")
            relay = start(by_oidc(provider.url, client, secret), port)
            mona = Browser(relay)
            assert mona.back(provider.sign_in(mona.get(START).headers["Location"], "5")) == "/"
            me = mona.get("/v1/me").json
            assert (me["user"], me["name"]) == ("mona", "Mona L"), me
        finally:
            provider.stop()


async def glewlwyd(start, _):
    """Glewlwyd, from Debian."""
    if shutil.which("glewlwyd") is None:
        return print("This Debian has no Glewlwyd, and it was not tested.")
    from glewlwyd import Glewlwyd
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        provider = Glewlwyd(folder, f"http://127.0.0.1:{port}/sign-in/oidc/callback")
        try:
            relay = start(by_oidc(provider.url, provider.client, provider.secret), port)
            for _ in range(2):
                mona = Browser(relay)
                back = provider.sign_in(mona.get(START).headers["Location"])
                assert mona.back(back) == "/"
                assert mona.get("/v1/me").json["user"] == "mona"
        finally:
            provider.stop()


AUTHLIB = """
import sys
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
url, code = sys.argv[1:]
client = OAuth2Client(client_id="terminal", token_endpoint_auth_method="none")
def ask():
    return client.fetch_token(f"{url}/v1/device/token", device_code=code,
                              grant_type="urn:ietf:params:oauth:grant-type:device_code")
try:
    ask()
except OAuthError as error:
    print(error.error, flush=True)
sys.stdin.readline()
ask()
print(client.get(f"{url}/v1/me").json()["user"])
"""


async def device_flow(start, cache):
    """The device flow by Authlib, which comes with oidc-provider-mock."""
    from openid_mock import install
    try:
        python = install(cache)
    except subprocess.CalledProcessError as error:
        return print(f"Authlib cannot be installed, and was not tested: {error}")
    relay = start("auth: { mode: accounts }\n")
    ada = first(relay)
    asked = Person(relay).post("/v1/device", {"device": "terminal"}).json
    client = subprocess.Popen([python, "-c", AUTHLIB, relay.url, asked["device_code"]], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    assert client.stdout.readline() == "authorization_pending\n"
    assert ada.post(f"/v1/device/{asked['user_code']}", {"allow": True}).status == 204
    rest, _ = client.communicate("go on\n", timeout=60)
    assert (client.returncode, rest) == (0, "ada\n"), rest


if __name__ == "__main__":
    case, more = globals()[sys.argv[1]], sys.argv[3:]
    play(lambda start: case(start, *more), sys.argv[2])
    print("good")
