"""Any debugger that speaks the Debug Adapter Protocol, as a Backend."""
