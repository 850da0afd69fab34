"""The agent's worlds: where they live, how they are copied, what changed in them, and how they are kept."""
