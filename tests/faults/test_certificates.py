"""Downloads over https from a server whose certificate nobody vouches for, or that is for another, or too old."""

import pytest
from shared.file_server import CONTENT, SHA256, files_below
from shared.hostile_server import answer, hostile_server, make_certificate

from closeread.corpus.declaration import SourceFile
from closeread.corpus.names import load_corpus
from closeread.corpus.sources import cache_folder, locate
from closeread.exceptions import UnavailableError

pytestmark = pytest.mark.usefixtures("loopback")

VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")


@pytest.fixture
def certify(tmp_path, monkeypatch):
    """Makes a certificate, and downloads a file from a server that shows it."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)

    def call(trusted=None, **certificate):
        made = make_certificate(tmp_path, **certificate)
        if made is None:
            pytest.skip("openssl is not installed, and makes the certificate")
        path, tls = made
        if trusted is not None:
            monkeypatch.setenv(trusted, str(path))
        with hostile_server(tls) as server:
            server.answers = [answer(CONTENT)]
            file = SourceFile("rain.tsv", SHA256, server.url, size=len(CONTENT))
            try:
                return locate(load_corpus("mctaco"), file).path.read_bytes(), server.url
            except UnavailableError as error:
                assert server.asked == []  # no request was sent
                assert files_below(cache_folder("mctaco")) == []
                return str(error), server.url

    return call


def test_a_certificate_that_nobody_vouches_for(certify, loopback):
    said, url = certify()
    why = "its certificate is not trusted: self-signed certificate (REQUESTS_CA_BUNDLE names a file of others)"
    assert f"{url} can't be downloaded ({why}); put rain.tsv" in said.replace(
        "self signed", "self-signed"
    )
    assert "\n" not in said
    assert loopback == []  # another try would not help


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_a_certificate_that_the_user_trusts(certify, variable):
    content, url = certify(trusted=variable)
    assert content == CONTENT
    assert url.startswith("https://")


def test_a_server_that_speaks_no_tls():
    with hostile_server() as server:
        server.answer = lambda connection: (
            connection.recv(2**16),
            connection.sendall(answer(CONTENT)),
        )
        url = server.url.replace("http:", "https:")
        with pytest.raises(
            UnavailableError, match=r"can't be downloaded \(no secure connection: SSLError\)"
        ):
            locate(load_corpus("mctaco"), SourceFile("rain.tsv", SHA256, url, size=len(CONTENT)))
