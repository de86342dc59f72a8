"""Asking the person behind a client before a call of a high class is made, by MCP's elicitation, in either era."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from ...errors import StillframeError
from ...model.host import in_question
from ...render.escape import escape, shorten
from ...settings import PerProject, project_root
from .client import Client
from .toolset import CLASSES

MODERN = "2026-07-28"
_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


class Approval:
    """The questions of one server."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(16)
        """Seals what a client hands back, so that an answer counts for the call that was asked about and no other."""
        self._settings = PerProject()

    async def of(
        self, context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams, needs: str
    ) -> str | types.InputRequiredResult:
        """For a call that is asked about, of the class that it needs: nothing where it was agreed to; else a refusal, or the
        question for a client that asks by itself."""
        capabilities = context.session.client_capabilities
        if not _can_ask(capabilities.elicitation if capabilities else None):
            return (
                f"{params.name} needs {needs}, which is asked about first, and this client cannot ask; `dbg mcp` without --ask, "
                "and settings without `ask`, grant it"
            )
        question = f"Let the debugger do this? {params.name} " + in_question(escape(json.dumps(params.arguments or {})))
        if context.protocol_version >= MODERN:
            return self._modern(params, question, needs)
        try:
            answer = await context.session.elicit_form(question, _SCHEMA, related_request_id=context.request_id)
        except MCPError as error:
            said = shorten(escape(error.error.message), 200)
            return f"{params.name} was not agreed to: the client could not ask ({said})"
        return "" if answer.action == "accept" else _not_agreed_to(params.name, needs)

    def _modern(
        self, params: types.CallToolRequestParams, question: str, needs: str
    ) -> str | types.InputRequiredResult:
        seal = self._seal(params)
        answer = (params.input_responses or {}).get("ok")
        if isinstance(answer, types.ElicitResult) and hmac.compare_digest(params.request_state or "", seal):
            return "" if answer.action == "accept" else _not_agreed_to(params.name, needs)
        form = types.ElicitRequestFormParams(message=question, requested_schema=_SCHEMA)
        return types.InputRequiredResult(input_requests={"ok": types.ElicitRequest(params=form)}, request_state=seal)

    def _seal(self, params: types.CallToolRequestParams) -> str:
        what = json.dumps([params.name, params.arguments or {}], sort_keys=True).encode()
        return hmac.new(self._key, what, hashlib.sha256).hexdigest()

    def needed(self, client: Client, params: types.CallToolRequestParams) -> bool:
        """Whether a call of this tool is asked about: by the wish of whoever started us, or of the project's settings."""
        project = (params.arguments or {}).get("project")
        folder = client.folder(project) if isinstance(project, str) else client.cwd
        try:
            tool = client.tools.find(params.name)
            folders = (folder, client.begun) if client.begun else (folder,)
            settings = (self._settings.at(project_root(each)).ask for each in folders)
            wishes = [each for each in (client.ask, *settings) if each]
        except StillframeError:
            return False  # the call itself says what is wrong
        return any(CLASSES.index(tool.access) >= CLASSES.index(each) for each in wishes)


def _not_agreed_to(tool: str, needs: str) -> str:
    return f"{tool} was not agreed to: it needs {needs}, which is asked about here by `dbg mcp --ask` or `ask` in the settings"


def _can_ask(elicitation: types.ElicitationCapability | None) -> bool:
    """Whether a client shows forms: one that names no way of asking has but that one."""
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)
