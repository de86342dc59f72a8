"""MCP's own server for one client: lists made from its tools, calls passed on to the daemon, failures as tool errors.

Built on the low-level server of the SDK (mcp 2.3), which serves both eras of the protocol and checks nothing by itself.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged
from mcp.shared.exceptions import MCPError

from ...errors import Denied, StillframeError, UsageError
from ...version import __version__
from . import resources
from .approval import MODERN, Approval
from .client import Client, Told, envelope_of
from .instructions import INSTRUCTIONS
from .prompts import HUNTS
from .toolset import Tool

Context = ServerRequestContext[Any, Any]
ARGUMENT_CHARACTERS = 256 * 1024
"""The most that the arguments of one call may be."""


GONE = "stillframe.gone"
"""In the scope of a request over HTTP: the event that nobody is there any more to hear its answer."""


def server_for(client: Callable[[Context], Client], *, schemas: bool = False) -> DebugServer:
    """A server that does what its clients may. With `schemas` the list of tools holds the shapes of their answers, too."""
    handlers = Handlers(client, schemas)
    server = DebugServer(
        handlers.bus,
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_subscriptions_listen=ListenHandler(handlers.bus),
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )
    server.middleware.clear()  # spans of OpenTelemetry (mcp 2.3), which nobody collects here, take a tenth of a call
    return server


class DebugServer(Server[Any]):
    """Tells of resources that come up, as sessions do; its tools and prompts stay as they are."""

    def __init__(self, bus: InMemorySubscriptionBus, **handlers: Any) -> None:
        super().__init__("stillframe", **handlers)
        self.bus = bus

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *more: Any, **named: Any
    ) -> Any:
        return super().create_initialization_options(NotificationOptions(resources_changed=True), *more, **named)


class Handlers:
    """What the SDK calls; each is a look-up, and the work is done elsewhere."""

    def __init__(self, client: Callable[[Context], Client], schemas: bool) -> None:
        self._client = client
        """Whoever a request comes from."""
        self._schemas = schemas
        self._approval = Approval()
        self.bus = InMemorySubscriptionBus()
        """By which clients of the newer protocol hear what they asked to hear of."""

    async def list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[self._tool(*each) for each in self._client(context).tools.schemas()])

    def _tool(self, tool: Tool, schema: dict[str, Any]) -> types.Tool:
        # What is left out is the protocol's default: not read-only, destructive, of an open world.
        hints = (
            types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
            if tool.read_only
            else types.ToolAnnotations(destructive_hint=tool.destructive)
        )
        more: dict[str, Any] = {}
        if self._schemas:
            from .schemas import result_schema

            more["output_schema"] = result_schema(tool.verbs)
        return types.Tool(name=tool.name, description=tool.text, input_schema=schema, annotations=hints, **more)

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        arguments = params.arguments or {}
        client = self._client(context)
        size = len(json.dumps(arguments))
        if size > ARGUMENT_CHARACTERS:
            return _failure(
                client,
                params.name,
                UsageError(f"arguments of {size:,} characters; {ARGUMENT_CHARACTERS:,} are the most"),
            )
        to_ask = self._approval.needed(client, params)

        async def progress(done: float, most: float, word: str) -> None:
            await context.session.report_progress(done, most, word)

        told = None
        while told is None or (told.asked and not to_ask):
            # The daemon knows of wishes that we do not, such as that of a session's project.
            to_ask = to_ask or told is not None
            asked = await self._approval.of(context, params, client.tools.find(params.name).access) if to_ask else ""
            if isinstance(asked, types.InputRequiredResult):
                return asked
            if asked:
                await client.disown(params.name, arguments)
                return _failure(client, params.name, Denied(asked))
            told = await _while_heard(context, client.call(params.name, arguments, progress, agreed=to_ask))
        if told.met and context.protocol_version >= MODERN:
            await self.bus.publish(ResourcesListChanged())
        elif told.met:
            await context.session.send_resource_list_changed()
        return types.CallToolResult(
            content=[types.TextContent(text=told.text)],
            structured_content=msgspec.json.decode(told.envelope) if client.hears_json else None,
            is_error=told.failed,
        )

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        found = await _translated(resources.listed(self._client(context)))
        return types.ListResourcesResult(
            resources=[types.Resource(uri=uri, name=name, description=text) for uri, name, text in found]
        )

    async def list_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        made = [
            types.ResourceTemplate(uri_template=uri, name=uri.partition("://")[2].partition("/")[0], description=text)
            for uri, text in resources.TEMPLATES.items()
        ]
        return types.ListResourceTemplatesResult(resource_templates=made)

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        text, media = await _translated(resources.read(self._client(context), str(params.uri)))
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=params.uri, text=text, mime_type=media)]
        )

    async def list_prompts(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        made = [
            types.Prompt(
                name=hunt.name,
                description=hunt.doc,
                arguments=[
                    types.PromptArgument(name=name, description=text, required=True)
                    for name, text in hunt.arguments.items()
                ],
            )
            for hunt in HUNTS.values()
        ]
        return types.ListPromptsResult(prompts=made)

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        hunt = HUNTS.get(params.name)
        if hunt is None:
            raise MCPError(
                types.INVALID_PARAMS, f"there is no prompt {params.name!r:.80}; there are {', '.join(HUNTS)}"
            )
        try:
            text = hunt.filled(params.arguments or {})
        except StillframeError as error:
            raise MCPError(types.INVALID_PARAMS, error.message) from None
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=hunt.doc, messages=[message])


async def _while_heard(context: Context, work: Coroutine[Any, Any, Told]) -> Told:
    """What comes of a call. Over HTTP a client that vanishes has said so to nobody but the connection, and its call is given up
    like any that is cancelled; on a pipe the whole conversation ends."""
    gone = getattr(context.request, "scope", {}).get(GONE)
    if gone is None:
        return await work
    call, left = asyncio.ensure_future(work), asyncio.ensure_future(gone.wait())
    try:
        await asyncio.wait({call, left}, return_when=asyncio.FIRST_COMPLETED)
        return await call if call.done() else Told("nobody hears this", b"{}", failed=True)
    finally:
        call.cancel()
        left.cancel()
        await asyncio.wait({call, left})


def _failure(client: Client, tool: str, error: StillframeError) -> types.CallToolResult:
    """The answer to a call that never came to be one."""
    return types.CallToolResult(
        content=[types.TextContent(text=f"error {error.code}: {error.message}")],
        structured_content=envelope_of(tool, error) if client.hears_json else None,
        is_error=True,
    )


async def _translated(work: Any) -> Any:
    """Reading has no errors of its own in the protocol: ours become the protocol's, with their words."""
    try:
        return await work
    except StillframeError as error:
        raise MCPError(types.INVALID_PARAMS, error.message) from None
