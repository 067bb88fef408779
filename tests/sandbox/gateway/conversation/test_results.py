"""Which texts tell of a failure, as the frameworks word it, and which only speak of one."""

from __future__ import annotations

import pytest

from fieldmark.sandbox.gateway.conversation import results
from fieldmark.sandbox.gateway.conversation.calls import OpenCall
from fieldmark.sandbox.gateway.conversation.said import Said


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Tool web_search not found", "not_found"),
        ('Tool "zoom" not found in registry. Did you mean one of: …', "not_found"),
        ("unsupported call: zoom", "not_found"),
        ("Error: zoom is not a valid tool, try one of [ocr].", "not_found"),
        ("Observation:\nError: Unknown tool zoom, should be one of: ocr", "not_found"),
        ("InterpreterError: Forbidden function evaluation: 'zoom' is not among …", "not_found"),
        ('Validation failed for tool "exec":\n  - command: must have …', "invalid_args"),
        ("Path escapes sandbox root (/w): /etc/passwd", "denied"),
        ("Transport error (GET https://x.example/)", "unavailable"),
        ("File not found: /nope.jpg", "runtime"),
        ("<returncode>1</returncode>\n<output>\n</output>", "runtime"),
        ("<returncode>0</returncode>\n<output>\nhi\n</output>", None),
        ("(no output)\n\n(Command exited with code 3)", "runtime"),
        ("Exit code: 0\nOutput:\nhi", None),
        ('{\n  "status": "error",\n  "tool": "tool_call"\n}', "runtime"),
        ('{"status": "error", "error": "Path escapes sandbox root (/w): /etc/passwd"}', "denied"),
        ('{"status": "error", "error": "Unknown tool id: zoom. Did you mean: …"}', "not_found"),
        ('{"status": "error", "error": "the page could', "runtime"),
        ('{"status": "ok"}', None),
        ("The page says: Error: tool not found", None),
        ("A manual on how to find an error: read it.", None),
        ("", None),
    ],
)
def test_kinds(text: str, kind: str | None) -> None:
    call = OpenCall("m1.0", "c", "bash", "{}", "code_or_shell", None, 0.0, offered=True)
    assert results.error_kind(call, Said("tool", text, "c")) == kind
