"""The loopback server."""

import socket
import urllib.error
import urllib.request

import pytest

from app.site.build_error import BuildError
from app.site.policy import CONTENT_SECURITY_POLICY
from app.site.server import SiteServer


def headers(address):
    with urllib.request.urlopen(address) as answer:
        return answer.headers


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "assets").mkdir()
    for name in ("index.html", "assets/a.mjs", "assets/a.wasm", "assets/a.zip"):
        (tmp_path / name).write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "mime"),
    [
        ("", "text/html; charset=utf-8"),
        ("assets/a.mjs", "text/javascript; charset=utf-8"),
        ("assets/a.wasm", "application/wasm"),
        ("assets/a.zip", "application/zip"),
    ],
)
def test_each_kind_of_file_has_the_type_that_browsers_ask_for(folder, serve, path, mime):
    assert headers(serve(folder) + path)["Content-Type"] == mime


def test_hashed_files_may_be_kept_and_the_page_is_asked_for_again(folder, serve):
    address = serve(folder)
    assert "immutable" in headers(address + "assets/a.mjs")["Cache-Control"]
    assert headers(address)["Cache-Control"] == "no-cache"


def test_the_policy_goes_out_as_a_header_too(folder, serve):
    assert headers(serve(folder) + "assets/a.mjs")["Content-Security-Policy"] == CONTENT_SECURITY_POLICY


def test_it_listens_on_loopback_only_and_keeps_to_its_folder(folder, serve):
    address = serve(folder)
    assert address.startswith("http://127.0.0.1:")
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(address + "../../../../etc/passwd")
    assert refusal.value.code == 404


def test_a_port_that_was_asked_for_and_is_taken_is_named(folder):
    with SiteServer(folder, 0) as first:
        port = first.server_address[1]
        with pytest.raises(BuildError, match=f"port {port}"):
            SiteServer(folder, port)


def test_without_a_wish_the_next_free_port_is_taken(folder, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr("app.site.server.DEFAULT_PORT", port)
        with SiteServer(folder) as server:
            assert server.server_address[1] > port
