"""A local server that answers as a model would, from a reply file: real agents run end to end without a network.

It speaks Anthropic messages, OpenAI chat completions, OpenAI responses and Gemini, streamed or not.
"""

from .functions import load_functions
from .script import Conversation, Script
from .server import MockModel

__all__ = ["Conversation", "MockModel", "Script", "load_functions"]
