"""Aegir over HTTP, and its page: `aegir serve`; docs/service.md is for operators."""
