"""An OpenID provider on loopback, for signing in: as https://openid.net/specs/openid-connect-core-1_0.html asks."""
import base64
import hashlib
import hmac
import json
import re
import secrets
import time
import urllib.parse

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

from service import Service

# With characters that a form encodes, since Basic credentials are encoded as a form (RFC 6749, 2.3.1).
CLIENT, SECRET = "relay:1 %41+b", "s:3 %63+r&=/~"
SCOPES = {"profile": {"name", "preferred_username", "picture"}, "email": {"email", "email_verified"}}


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def encoded_json(value):
    return encoded(json.dumps(value).encode())


def encoded_integer(value, size=None):
    return encoded(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


def present(fields):
    """`fields` without those that are None."""
    return {name: value for name, value in fields.items() if value is not None}


class Key:
    """A private key: of "RS256" or "ES256"."""

    def __init__(self, alg, kid, use="sig"):
        self.alg, self.kid, self.use = alg, kid, use
        self.private = ec.generate_private_key(ec.SECP256R1()) if alg == "ES256" else rsa.generate_private_key(
            public_exponent=65537, key_size=2048)

    def jwk(self):
        numbers = self.private.public_key().public_numbers()
        fields = {"kid": self.kid, "use": self.use, "alg": self.alg if self.use == "sig" else "RSA-OAEP"}
        if self.alg == "ES256":
            return {"kty": "EC", "crv": "P-256", "x": encoded_integer(numbers.x, 32),
                    "y": encoded_integer(numbers.y, 32), **fields}
        return {"kty": "RSA", "n": encoded_integer(numbers.n), "e": encoded_integer(numbers.e), **fields}

    def pem(self):
        return self.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)

    def signature(self, text):
        if self.alg == "RS256":
            return self.private.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
        r, s = utils.decode_dss_signature(self.private.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def token(self, header, claims):
        text = f"{encoded_json(header)}.{encoded_json(claims)}"
        return f"{text}.{encoded(self.signature(text))}"


class Provider(Service):
    """Who signs in there is `claims`.

    metadata    members that replace those of the discovery document; None removes one
    callback    parameters that replace those of the redirect to the relay; None removes one
    userinfo    claims that only /userinfo gives; "sub" here makes it speak of another person
    alg         what ID tokens are signed with: RS256 or ES256
    hide_kid    neither ID tokens nor the keys have a kid
    forge       function (provider, header, claims) that returns other claims, which are signed, or a whole token
    """

    def __init__(self, path=""):
        self.claims = {
            "sub": "248289761001", "preferred_username": "mona", "name": "Mona L", "email": "mona@example.com",
            "email_verified": True, "groups": ["staff"]}
        self.userinfo, self.metadata, self.callback = {}, {}, {}
        self.alg, self.hide_kid, self.forge = "RS256", False, None
        self.enc = Key("RS256", "enc-1", use="enc")
        self.keys = [self.enc, Key("ES256", "ec-1"), Key("RS256", "rsa-1")]
        self.tokens = {}
        self.paths = {
            ("GET", "/.well-known/openid-configuration"): lambda request, _: request.answer(200, self.document()),
            ("GET", "/authorize"): self.authorize, ("POST", "/token"): self.exchange,
            ("GET", "/jwks"): lambda request, _: request.answer(200, self.key_set()),
            ("GET", "/userinfo"): self.describe}
        super().__init__(path, Content_Type="application/json", Cache_Control="no-store")

    def answer(self, request, path, fields):
        if (request.command, path) not in self.paths:
            return request.answer(404, {"error": "not_found"})
        if len(dict(fields)) < len(fields):
            return request.answer(400, {"error": "invalid_request", "error_description": "a parameter twice"})
        self.paths[request.command, path](request, dict(fields))

    def key(self):
        """The key that signs now: the last one for `alg`."""
        return [key for key in self.keys if key.alg == self.alg and key.use == "sig"][-1]

    def rotate(self, keep=False):
        """Signs with a new key from now on; the old one stays published if it is to be kept."""
        old = self.key()
        self.keys.append(Key(self.alg, f"{self.alg.lower()}-{secrets.token_hex(4)}"))
        if not keep:
            self.keys.remove(old)

    def document(self):
        return present({
            "issuer": self.url, "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token", "jwks_uri": f"{self.url}/jwks",
            "userinfo_endpoint": f"{self.url}/userinfo", "response_types_supported": ["code"],
            "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["RS256", "ES256"],
            "scopes_supported": ["openid", "profile", "email"], "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            "authorization_response_iss_parameter_supported": True, **self.metadata})

    def key_set(self):
        # Keys of a kind that the relay does not know are no mistake.
        keys = [{"kty": "OKP", "crv": "Ed25519", "x": encoded(bytes(32)), "use": "sig", "kid": "ed-1"},
                *(key.jwk() for key in self.keys)]
        return {"keys": [present({**key, "kid": None}) if self.hide_kid else key for key in keys]}

    def authorize(self, request, fields):
        scopes = fields.get("scope", "").split(" ")
        right = {
            "response_type": fields.get("response_type") == "code", "client_id": fields.get("client_id") == CLIENT,
            "redirect_uri": re.match("https?://[^#]+$", fields.get("redirect_uri", "")), "scope": "openid" in scopes,
            "state": fields.get("state"), "nonce": fields.get("nonce"),
            "code_challenge_method": fields.get("code_challenge_method") == "S256",
            "code_challenge": re.fullmatch("[A-Za-z0-9_-]{43}", fields.get("code_challenge", ""))}
        wrong = [name for name, is_right in right.items() if not is_right]
        if wrong:
            return request.answer(400, {"error": "invalid_request", "error_description": ", ".join(wrong)})
        code = secrets.token_urlsafe(24)
        hidden = {name: None for scope, names in SCOPES.items() if scope not in scopes for name in names}
        self.codes[code] = (fields, present({**self.claims, **hidden}), hidden)
        names_issuer = self.document().get("authorization_response_iss_parameter_supported")
        given = present({"code": code, "state": fields["state"], "iss": self.url if names_issuer else None,
                         **self.callback})
        address = fields["redirect_uri"]
        request.answer(
            302, b"", Location=f"{address}{'&' if '?' in address else '?'}{urllib.parse.urlencode(given)}")

    def is_client(self, request, fields):
        """Whether the relay has proven itself, in a way that the document names, and in no other."""
        methods = self.document().get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        kind, _, credentials = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() == "basic" and "client_secret" not in fields and "client_secret_basic" in methods:
            try:
                name, _, secret = base64.b64decode(credentials, validate=True).decode("ascii").partition(":")
            except ValueError:
                return False
            name, secret = urllib.parse.unquote_plus(name), urllib.parse.unquote_plus(secret)
            return (name, secret, fields.get("client_id", CLIENT)) == (CLIENT, SECRET, CLIENT)
        return (not kind and "client_secret_post" in methods
                and (fields.get("client_id"), fields.get("client_secret")) == (CLIENT, SECRET))

    def exchange(self, request, fields):
        # A code lives once.
        asked, claims, hidden = self.codes.pop(fields.get("code"), ({}, {}, {}))
        if not self.is_client(request, fields):
            return request.answer(401, {"error": "invalid_client"}, WWW_Authenticate='Basic realm="provider"')
        if request.headers.get_content_type() != "application/x-www-form-urlencoded":
            return request.answer(400, {"error": "invalid_request"})
        if fields.get("grant_type") != "authorization_code":
            return request.answer(400, {"error": "unsupported_grant_type"})
        verifier = fields.get("code_verifier", "")
        is_proven = (re.fullmatch("[A-Za-z0-9._~-]{43,128}", verifier)
                     and encoded(hashlib.sha256(verifier.encode()).digest()) == asked.get("code_challenge"))
        if not is_proven or asked["redirect_uri"] != fields.get("redirect_uri"):
            return request.answer(400, {"error": "invalid_grant"})
        token = secrets.token_urlsafe(24)
        self.tokens[token] = (claims, hidden)
        request.answer(200, {"access_token": token, "token_type": "Bearer", "expires_in": 300,
                             "id_token": self.id_token(asked["nonce"], claims)})

    def id_token(self, nonce, claims):
        now, key = int(time.time()), self.key()
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": nonce, **claims}
        header = {"alg": self.alg, "typ": "JWT", **({} if self.hide_kid else {"kid": key.kid})}
        made = self.forge(self, header, claims) if self.forge else claims
        return made if isinstance(made, str) else key.token(header, made)

    def describe(self, request, fields):
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer" or token not in self.tokens:
            return request.answer(401, {"error": "invalid_token"}, WWW_Authenticate='Bearer error="invalid_token"')
        claims, hidden = self.tokens[token]
        request.answer(200, present({**claims, **self.userinfo, **hidden}))


# MARK: ID tokens

def with_claims(**more):
    """Well signed, with these claims; None removes one, and a function is given the claim."""
    def forge(_, header, claims):
        return present({**claims, **{
            name: value(claims[name]) if callable(value) else value for name, value in more.items()}})
    return forge


def with_header(**more):
    """Signed by the right key, with another header; None removes a member."""
    def forge(provider, header, claims):
        return provider.key().token(present({**header, **more}), claims)
    return forge


def signed_by(make, **more):
    """Signed by the key that `make(provider)` returns."""
    def forge(provider, header, claims):
        key = make(provider)
        return key.token({**header, "alg": key.alg, **more}, claims)
    return forge


def unsigned(**more):
    def forge(_, header, claims):
        return f"{encoded_json({**header, **more})}.{encoded_json(claims)}."
    return forge


def hs256(secret):
    """Signed with a secret: what `secret(provider)` returns."""
    def forge(provider, header, claims):
        text = f"{encoded_json({**header, 'alg': 'HS256'})}.{encoded_json(claims)}"
        return f"{text}.{encoded(hmac.digest(secret(provider), text.encode(), 'sha256'))}"
    return forge


def signed_then_changed(provider, header, claims):
    head, _, signature = provider.key().token(header, claims).split(".")
    return f"{head}.{encoded_json({**claims, 'sub': 'admin'})}.{signature}"


def key_in_header(provider, header, claims):
    key = Key(provider.alg, header["kid"])
    return key.token({**header, "jwk": key.jwk()}, claims)


def der_signature(provider, header, claims):
    """An ECDSA signature as X.509 has it, not as RFC 7518 asks."""
    key = next(key for key in provider.keys if key.alg == "ES256")
    text = f"{encoded_json({**header, 'alg': 'ES256', 'kid': key.kid})}.{encoded_json(claims)}"
    return f"{text}.{encoded(key.private.sign(text.encode(), ec.ECDSA(hashes.SHA256())))}"


def zero_signature(provider, header, claims):
    """r and s of an ECDSA signature are 0."""
    key = next(key for key in provider.keys if key.alg == "ES256")
    return f"{encoded_json({**header, 'alg': 'ES256', 'kid': key.kid})}.{encoded_json(claims)}.{encoded(bytes(64))}"


def own_key(provider):
    return Key(provider.alg, "unpublished")


ANOTHER = "https://another.example"

# Each of them is refused.
FORGERIES = {
    "none": unsigned(alg="none"), "none_in_capitals": unsigned(alg="NONE"), "no_signature": unsigned(),
    "hs256_with_public_key": hs256(lambda provider: provider.key().pem()),
    "hs256_with_client_secret": hs256(lambda _: SECRET.encode()), "hs256_with_nothing": hs256(lambda _: b""),
    "other_key_same_kid": signed_by(own_key), "other_key_unknown_kid": signed_by(own_key, kid="unpublished"),
    "key_in_header": key_in_header, "encryption_key": signed_by(lambda provider: provider.enc, kid="enc-1"),
    "kid_of_the_other_kind": with_header(kid="ec-1", alg="RS256"), "critical_header": with_header(crit=["x"], x=1),
    "signed_then_changed": signed_then_changed, "der_signature": der_signature, "zero_signature": zero_signature,
    "no_token": lambda *_: "x", "five_parts": lambda *_: "e30.e30.e30.e30.e30",
    "claims_are_a_list": lambda provider, header, _: provider.key().token(header, []),
    "nonce_of_another": with_claims(nonce="another"), "no_nonce": with_claims(nonce=None),
    "nonce_is_a_number": with_claims(nonce=7),
    "aud_of_another": with_claims(aud="another"), "no_aud": with_claims(aud=None), "aud_is_empty": with_claims(aud=[]),
    "auds_of_others": with_claims(aud=["another", "third"], azp=CLIENT),
    "two_auds_without_azp": with_claims(aud=[CLIENT, "another"]),
    "two_auds_azp_of_another": with_claims(aud=[CLIENT, "another"], azp="another"),
    "azp_of_another": with_claims(azp="another"),
    "expired": with_claims(iat=lambda now: now - 7200, exp=lambda then: then - 7200), "no_exp": with_claims(exp=None),
    "exp_is_text": with_claims(exp=lambda then: str(then)),
    "iat_in_future": with_claims(iat=lambda now: now + 7200, exp=lambda then: then + 7200),
    "no_iat": with_claims(iat=None),
    "iss_of_another": with_claims(iss=ANOTHER), "iss_with_slash": with_claims(iss=lambda iss: iss + "/"),
    "no_iss": with_claims(iss=None), "no_sub": with_claims(sub=None), "sub_is_empty": with_claims(sub=""),
    "sub_is_a_number": with_claims(sub=7), "sub_is_long": with_claims(sub="1" * 256)}

# Each of them is good.
ALLOWED = {
    "aud_is_a_list": with_claims(aud=[CLIENT]), "two_auds_with_azp": with_claims(aud=["another", CLIENT], azp=CLIENT),
    "azp": with_claims(azp=CLIENT), "clock_5_s_ahead": with_claims(iat=lambda now: now + 5),
    "fractions_of_a_second": with_claims(iat=lambda now: now + 0.25, exp=lambda then: then + 0.25),
    "more_claims": with_claims(acr="0", amr=["pwd"], x={"y": 1}), "without_typ": with_header(typ=None)}
