"""A run as other tools read it: Markdown for a pull request, JUnit for a CI server."""
