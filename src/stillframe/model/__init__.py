"""The types that every layer shares: places, values, outcomes, and the Backend contract. No I/O, no behaviour."""
