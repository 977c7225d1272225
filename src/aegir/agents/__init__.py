"""Agents: what a language model may learn of tables: `aegir mcp`; docs/agents.md is for its users"""
