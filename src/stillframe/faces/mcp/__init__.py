"""The vocabulary as MCP tools: a host process with MCP's own library in it, which asks the daemon like any other client."""
