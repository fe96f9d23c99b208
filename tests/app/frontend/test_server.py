"""The server's page: the same template, its files handed out by name, and a channel that answers."""

import importlib
import json

from bokeh.document import Document
from bokeh.io.doc import set_curdoc

import static


def served_document() -> Document:
    document = Document()
    before = importlib.import_module("bokeh.io.doc").curdoc()
    set_curdoc(document)
    try:
        importlib.reload(importlib.import_module("app.main"))
    finally:
        set_curdoc(before)
    document.clear()
    importlib.import_module("app.main").build(document)
    return document


def test_a_request_on_the_channel_is_answered_with_its_number():
    document = served_document()
    requests = document.get_model_by_name("channel.request")
    responses = document.get_model_by_name("channel.response")
    asked = {"id": 7, "request": {"kind": "simulate", "settings": {"seed": 9, "steps": 3}}}
    requests.data = {"json": [json.dumps(asked)]}
    reply = json.loads(responses.data["json"][0])
    assert reply["id"] == 7
    assert reply["response"]["settings"]["seed"] == 9
    assert reply["response"]["sources"]["recording"]["steps"] == 3


def test_a_file_travels_as_base64_and_arrives_as_bytes(monkeypatch):
    document = served_document()
    main = importlib.import_module("app.main")
    seen = []
    monkeypatch.setattr(main.Handler, "handle", lambda _self, request: seen.append(request) or {})
    asked = {"id": 1, "request": {"kind": "replay", "name": "a.csv", "base64": "AP8="}}
    document.get_model_by_name("channel.request").data = {"json": [json.dumps(asked)]}
    assert seen == [{"kind": "replay", "name": "a.csv", "data": b"\x00\xff"}]


def test_every_script_and_style_sheet_is_handed_out_and_nothing_else():
    names = {*static.Files.__javascript_modules__, *static.Files.__css__}
    assert {"boot.js", "theme.css"} <= names
    assert not [name for name in names if not name.endswith((".js", ".css")) or "/" in name]
    assert static.addresses().keys() == names
    assert static.addresses()["theme.css"] == "components/static/Files/__css__/theme.css"
